#include "heuristics/assign/published/baselines.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "heuristics/assign/construct/dispatch.h"
#include "heuristics/assign/construct/row_packing.h"
#include "heuristics/packing.h"
#include "instances/numeric/numbers.h"
#include "instances/ticker.h"

namespace stowage {
namespace {

// visits of replicas between two reads of the clock: some milliseconds
constexpr std::int64_t kClockLooks = 4'000'000;

// Returns the workload as verl computes it. The unit cancels, because methods compare ratios of
// workloads.
double verl_workload(Tokens length) {
  const auto s = static_cast<double>(length);
  return 24576 * s + s * s;
}

std::vector<double> verl_workloads(const AssignTable& table, const std::vector<int>& positions) {
  std::vector<double> loads;
  loads.reserve(positions.size());
  for (const int position : positions) loads.push_back(verl_workload(table.length(position)));
  return loads;
}

std::vector<int> all_positions(const AssignTable& table) {
  std::vector<int> all(at(table.size()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

AssignWorkingPlan empty_draft(const AssignTable& table, int strategy) {
  AssignWorkingPlan draft{.strategy = strategy};
  for (const int group : groups_of_replicas(table, strategy)) {
    draft.replicas.push_back({.scheme = table.groups(strategy)[at(group)].scheme});
  }
  return draft;
}

std::optional<AssignWorkingPlan> settled(const AssignTable& table, AssignWorkingPlan draft,
                                         const Budget& budget) {
  if (!settle_rows(table, draft, budget)) return std::nullopt;
  return draft;
}

// Returns the rows of verl's partition. Returns nullopt if a row exceeds the cap or has no
// sequence, or if the budget ends.
std::optional<std::vector<WorkingRow>> verl_rows(const AssignTable& table, int scheme,
                                                 const std::vector<int>& positions, int rows,
                                                 const Budget& budget) {
  std::vector<WorkingRow> made;
  const Bins bins = karmarkar_karp(verl_workloads(table, positions), rows, budget);
  if (bins.empty()) return std::nullopt;
  for (const std::vector<int>& bin : bins) {
    made.emplace_back();
    for (const int item : bin) append(table, scheme, positions[at(item)], made.back());
    if (made.back().tokens > table.schemes()[at(scheme)].max_tokens || bin.empty()) {
      return std::nullopt;
    }
  }
  return made;
}

// Moves a sequence to every empty replica: the shortest sequence in the row of most sequences of
// the replica with the most sequences. Returns false if a replica stays empty or the budget ends.
bool fill_empty_replicas(const AssignTable& table, AssignWorkingPlan& draft, PollEvery& ticker) {
  for (WorkingReplica& empty : draft.replicas) {
    if (!empty.rows.empty()) continue;
    if (ticker.exhausted(static_cast<std::int64_t>(draft.replicas.size() + at(table.size()))))
      return false;
    WorkingRow* donor = nullptr;
    std::size_t most = 1;
    for (WorkingReplica& replica : draft.replicas) {
      std::size_t sequences = 0;
      for (const WorkingRow& row : replica.rows) sequences += row.positions.size();
      const auto row = std::ranges::max_element(
          replica.rows, {}, [](const WorkingRow& r) { return r.positions.size(); });
      if (sequences <= most) continue;
      const int shortest = std::ranges::max(row->positions);
      if (!table.holds(empty.scheme, shortest)) continue;
      if (row->positions.size() == 1) {  // a replica with a single row of one sequence keeps it
        continue;
      }
      most = sequences;
      donor = &*row;
    }
    if (donor == nullptr) return false;
    const auto shortest = std::ranges::max_element(donor->positions);
    empty.rows.emplace_back();
    append(table, empty.scheme, *shortest, empty.rows.back());
    donor->tokens -= table.length(*shortest);
    donor->positions.erase(shortest);
  }
  return true;
}

}  // namespace

bool settle_rows(const AssignTable& table, AssignWorkingPlan& draft, const Budget& budget) {
  PollEvery ticker(budget, kClockLooks);
  const RowConstraints& constraints = table.constraints();
  if (!constraints.allow_empty && !fill_empty_replicas(table, draft, ticker)) return false;
  std::size_t most = 0;
  for (const WorkingReplica& replica : draft.replicas) most = std::max(most, replica.rows.size());
  for (WorkingReplica& replica : draft.replicas) {
    if (replica.rows.empty()) continue;
    const std::size_t rows = constraints.equal_rows ? most : replica.rows.size();
    const int wanted = row_counts(constraints).at_least(static_cast<Tokens>(rows));
    for (WorkingRow& row : replica.rows) {
      row.work = 0;
      for (const int position : row.positions) row.work += table.work(position, replica.scheme);
    }
    if (!split_rows(table, replica.scheme, wanted, replica.rows)) return false;
    replica.time = time_of(table, replica.scheme, replica.rows);
  }
  return true;
}

std::optional<AssignWorkingPlan> assign_lpt(const AssignTable& table, int strategy,
                                            const Budget& budget) {
  if (!table.usable(strategy)) return std::nullopt;
  AssignWorkingPlan draft = empty_draft(table, strategy);
  std::vector<Ms> work(draft.replicas.size(), 0);
  Dispatch sets(draft.replicas.size());
  PollEvery ticker(budget, kClockLooks);
  for (int position = 0; position < table.size(); ++position) {
    if (ticker.exhausted(static_cast<std::int64_t>(sets.size()))) return std::nullopt;
    std::size_t home = sets.size();
    Ms least = kInfinity;
    for (std::size_t r = 0; r < sets.size(); ++r) {
      const int scheme = draft.replicas[r].scheme;
      const Ms after = work[r] + table.work(position, scheme);
      if (table.holds(scheme, position) && after < least) {
        least = after;
        home = r;
      }
    }
    work[home] = least;
    sets[home].push_back(position);
  }
  for (std::size_t r = 0; r < sets.size(); ++r) {
    auto replica = fewest_rows(table, draft.replicas[r].scheme, sets[r], RowCounts{});
    if (!replica) return std::nullopt;
    draft.replicas[r] = std::move(*replica);
  }
  return settled(table, std::move(draft), budget);
}

std::optional<AssignWorkingPlan> assign_karmarkar_karp(const AssignTable& table, int strategy,
                                                       const Budget& budget) {
  if (!table.usable(strategy) || table.groups(strategy).size() != 1) return std::nullopt;
  AssignWorkingPlan draft = empty_draft(table, strategy);
  if (table.size() == 0) return settled(table, std::move(draft), budget);
  const int scheme = draft.replicas.front().scheme;
  const Tokens cap = table.schemes()[at(scheme)].max_tokens;
  const Dispatch sets =
      karmarkar_karp(verl_workloads(table, all_positions(table)), table.replicas(strategy), budget);
  if (sets.empty()) return std::nullopt;
  Tokens fullest = 0;
  for (const std::vector<int>& set : sets) {
    Tokens tokens = 0;
    for (const int position : set) tokens += table.length(position);
    fullest = std::max(fullest, tokens);
  }
  const RowCounts counts = row_counts(table.constraints());
  for (std::size_t r = 0; r < sets.size(); ++r) {
    if (sets[r].empty()) continue;
    const auto most = static_cast<int>(sets[r].size());
    int rows = counts.at_least(fullest / cap + (fullest % cap != 0));
    std::optional<std::vector<WorkingRow>> made;
    for (rows = std::min(rows, most); !made && rows <= most; ++rows) {
      made = verl_rows(table, scheme, sets[r], rows, budget);
      if (!made && budget.exhausted()) return std::nullopt;
    }
    if (!made) return std::nullopt;
    draft.replicas[r].rows = std::move(*made);
  }
  return settled(table, std::move(draft), budget);
}

namespace {

Bins next_fit(const AssignTable& table, Tokens cap) {
  std::vector<int> by_id(at(table.size()));
  for (int position = 0; position < table.size(); ++position) {
    by_id[at(static_cast<int>(table.id(position)))] = position;
  }
  Bins bins;
  Tokens room = -1;
  for (const int position : by_id) {
    if (table.length(position) > room) {
      bins.emplace_back();
      room = cap;
    }
    bins.back().push_back(position);
    room -= table.length(position);
  }
  return bins;
}

// Assigns the rows to the replicas in turn. First splits rows until their number is a multiple of
// the replicas, if there are enough sequences.
void deal(const AssignTable& table, std::vector<WorkingRow> rows, AssignWorkingPlan& draft) {
  const auto replicas = static_cast<int>(draft.replicas.size());
  const int multiple = replicas * table.constraints().rows_multiple_of;
  const auto count = static_cast<int>(rows.size());
  split_rows(table, draft.replicas.front().scheme, (count + multiple - 1) / multiple * multiple,
             rows);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    draft.replicas[k % draft.replicas.size()].rows.push_back(std::move(rows[k]));
  }
}

// Assigns each row, slowest first, to the replica that then ends first. Returns false if the budget
// ends.
bool deal_to_least(const AssignTable& table, std::vector<WorkingRow> rows, AssignWorkingPlan& draft,
                   PollEvery ticker) {
  std::ranges::stable_sort(rows, std::greater<>{}, &WorkingRow::work);
  for (WorkingRow& row : rows) {
    if (ticker.exhausted(static_cast<std::int64_t>(draft.replicas.size()))) return false;
    WorkingReplica& least = *std::ranges::min_element(draft.replicas, {}, &WorkingReplica::time);
    least.rows.push_back(std::move(row));
    const Scheme& scheme = table.schemes()[at(least.scheme)];
    // Rows come by descending work, so a replica's first row is its longest.
    least.time +=
        (least.rows.size() == 1 ? scheme.pp : 1) * (least.rows.back().work + scheme.fixed_ms);
  }
  return true;
}

}  // namespace

std::optional<AssignWorkingPlan> assign_packed_rows(const AssignTable& table, int strategy,
                                                    RowFit rule, const Budget& budget) {
  if (!table.usable(strategy) || table.groups(strategy).size() != 1) return std::nullopt;
  AssignWorkingPlan draft = empty_draft(table, strategy);
  const int scheme = draft.replicas.front().scheme;
  const Tokens cap = table.schemes()[at(scheme)].max_tokens;
  std::vector<Tokens> sizes;
  for (int position = 0; position < table.size(); ++position) {
    sizes.push_back(table.length(position));
  }
  Bins bins;
  if (rule == RowFit::next_fit) {
    bins = next_fit(table, cap);
  } else {
    bins = *(rule == RowFit::first_fit_decreasing ? first_fit_decreasing(sizes, cap)
                                                  : best_fit_decreasing(sizes, cap));
  }
  std::vector<WorkingRow> rows(bins.size());
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    for (const int position : bins[bin]) append(table, scheme, position, rows[bin]);
  }
  if (rule == RowFit::next_fit) {
    deal(table, std::move(rows), draft);
  } else if (!deal_to_least(table, std::move(rows), draft, PollEvery(budget, kClockLooks))) {
    return std::nullopt;
  }
  return settled(table, std::move(draft), budget);
}

}  // namespace stowage
