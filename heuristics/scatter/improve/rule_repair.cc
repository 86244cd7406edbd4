#include "heuristics/scatter/improve/rule_repair.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/scatter/construct/equal_counts/equal_count_grouping.h"
#include "heuristics/scatter/construct/grouping.h"
#include "heuristics/scatter/improve/idle_ranks.h"
#include "heuristics/scatter/improve/local_search.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr std::size_t kMaxTried = 12;  // micro-batches tried per split or union

void drop_empty(WorkingStep& step) {
  for (WorkingMicroBatch& batch : step) {
    std::erase_if(batch.groups, [](const WorkingGroup& group) { return group.positions.empty(); });
  }
  std::erase_if(step, [](const WorkingMicroBatch& batch) { return batch.groups.empty(); });
}

bool right_count(const ScatterTable& table, std::size_t micro_batches) {
  return static_cast<std::int64_t>(micro_batches) % table.multiple() == 0;
}

// Splits a micro-batch into one of long and one of short sequences, each with all devices. Returns
// nullopt if it has one sequence or a half cannot be grouped.
std::optional<WorkingStep> halves(const ScatterTable& table, const WorkingMicroBatch& batch) {
  const std::vector<int> positions = positions_of(batch);
  double area = 0;
  for (const int position : positions) area += table.area(position);
  std::size_t cut = 0;
  for (double first = 0; cut + 1 < positions.size() && (cut == 0 || 2 * first < area); ++cut) {
    first += table.area(positions[cut]);
  }
  if (cut == 0) return std::nullopt;
  WorkingStep both;
  const std::span<const int> all = positions;
  for (const std::span<const int> half : {all.first(cut), all.subspan(cut)}) {
    std::optional<WorkingMicroBatch> made = group_micro_batch(table, half, kQuickGrouping);
    if (!made) return std::nullopt;
    both.push_back(*std::move(made));
  }
  return both;
}

// Splits the micro-batch whose split costs the least time. Tries the longest micro-batches, which
// gain most. Returns false if none can be split.
bool split_one(const ScatterTable& table, WorkingStep& step) {
  std::ranges::stable_sort(step, std::greater<>(), &WorkingMicroBatch::makespan);
  std::optional<std::size_t> chosen;
  Ms least = kInfinity;
  WorkingStep best;
  std::size_t tried = 0;
  for (std::size_t b = 0; b < step.size() && tried < kMaxTried; ++b) {
    std::optional<WorkingStep> both = halves(table, step[b]);
    if (!both) continue;
    ++tried;
    const Ms more = total(*both) - step[b].makespan;
    if (more >= least) continue;
    least = more;
    chosen = b;
    best = *std::move(both);
  }
  if (!chosen) return false;
  step[*chosen] = std::move(best.front());
  step.push_back(std::move(best.back()));
  return true;
}

// Unites the shortest micro-batch with the micro-batch where it adds the least time. Returns false
// if no union can be grouped.
bool unite_two(const ScatterTable& table, WorkingStep& step) {
  if (step.size() < 2) return false;
  std::ranges::stable_sort(step, std::greater<>(), &WorkingMicroBatch::makespan);
  const std::vector<int> shortest = positions_of(step.back());
  std::optional<std::size_t> chosen;
  Ms least = kInfinity;
  WorkingMicroBatch best;
  std::size_t tried = 0;
  for (std::size_t b = step.size() - 1; b-- > 0 && tried < kMaxTried; ++tried) {
    const std::vector<int> own = positions_of(step[b]);
    std::vector<int> both(own.size() + shortest.size());
    std::ranges::merge(own, shortest, both.begin());
    std::optional<WorkingMicroBatch> made = group_micro_batch(table, both, kQuickGrouping);
    if (!made || made->makespan - step[b].makespan >= least) continue;
    least = made->makespan - step[b].makespan;
    chosen = b;
    best = *std::move(made);
  }
  if (!chosen) return false;
  step[*chosen] = std::move(best);
  step.pop_back();
  return true;
}

// Gives each micro-batch one recomputation mode, regrouping it if necessary. Returns false if a
// regrouping fails.
bool unmix(const ScatterTable& table, WorkingStep& step) {
  if (table.recomputations() == 1) return true;
  choose_forms(table, step);
  for (WorkingMicroBatch& batch : step) {
    if (!mixes_modes(table, batch)) continue;
    std::optional<WorkingMicroBatch> made =
        group_micro_batch(table, positions_of(batch), kQuickGrouping);
    if (!made) return false;
    batch = *std::move(made);
  }
  return true;
}

// Regroups micro-batches whose groups hold unequal numbers of sequences, and halves those that
// cannot be regrouped. Returns false if a single sequence cannot be grouped.
bool level_out(const ScatterTable& table, WorkingStep& step) {
  if (!table.equal_sequences()) return true;
  std::vector<std::vector<int>> left;
  for (std::size_t b = 0; b < step.size(); ++b) {
    if (!has_equal_groups(step[b])) left.push_back(positions_of(step[b]));
  }
  std::erase_if(step, [](const WorkingMicroBatch& batch) { return !has_equal_groups(batch); });
  while (!left.empty()) {
    const std::vector<int> all = std::move(left.back());
    left.pop_back();
    if (auto made = group_micro_batch(table, all, kQuickGrouping)) {
      step.push_back(*std::move(made));
      continue;
    }
    // Split into the longer and the shorter half of the sequences.
    if (all.size() < 2) return false;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    left.emplace_back(all.begin(), middle);
    left.emplace_back(middle, all.end());
  }
  return true;
}

// Returns the step with a right number of micro-batches, larger if `more`, and with work for all
// ranks. Returns nullopt if the repair fails.
std::optional<WorkingStep> mended(const ScatterTable& table, WorkingStep step, bool more) {
  while (!right_count(table, step.size())) {
    if (!(more ? split_one(table, step) : unite_two(table, step))) return std::nullopt;
    drop_empty(step);
  }
  if (step.empty()) return std::nullopt;
  if (table.no_idle_ranks()) {
    for (std::size_t b = 0; b < step.size(); ++b) {
      if (!fill_idle_ranks(table, step, b)) return std::nullopt;
    }
  }
  if (!satisfies_rules(table, step)) return std::nullopt;
  return step;
}

}  // namespace

bool satisfies_rules(const ScatterTable& table, const WorkingStep& step) {
  std::size_t count = 0;
  for (const WorkingMicroBatch& batch : step) {
    const int idle = idle_ranks(table, batch);
    if (idle == table.devices()) continue;  // empty micro-batches are left out of the plan
    if (table.no_idle_ranks() && idle > 0) return false;
    if (mixes_modes(table, batch)) return false;
    if (table.equal_sequences() && !has_equal_groups(batch)) return false;
    ++count;
  }
  return right_count(table, count);
}

std::optional<WorkingStep> repaired(const ScatterTable& table, WorkingStep step) {
  if (satisfies_rules(table, step)) return step;
  drop_empty(step);
  if (!unmix(table, step) || !level_out(table, step)) return std::nullopt;
  if (satisfies_rules(table, step)) return step;
  drop_empty(step);
  std::optional<WorkingStep> fewer;
  if (!right_count(table, step.size())) fewer = mended(table, step, false);
  // With fewer micro-batches, each has more sequences to give to idle ranks, so that repair may
  // succeed when the other fails.
  std::optional<WorkingStep> more = mended(table, step, true);
  while (!more && !fewer && unite_two(table, step)) {
    drop_empty(step);
    if (right_count(table, step.size())) fewer = mended(table, step, false);
  }
  if (fewer && (!more || step_ms(table, *fewer) < step_ms(table, *more))) return fewer;
  return more;
}

std::optional<WorkingStep> repaired_in_best_forms(const ScatterTable& table, WorkingStep step) {
  std::optional<WorkingStep> made = repaired(table, std::move(step));
  if (made) choose_forms(table, *made);
  return made;
}

TimedWorkingStep as_planned(const ScatterTable& table, WorkingStep step) {
  if (satisfies_rules(table, step)) {
    choose_forms(table, step);
    const Ms time = step_ms(table, step);
    return {std::move(step), time};
  }
  std::optional<WorkingStep> made = repaired_in_best_forms(table, step);
  if (!made) return {std::move(step), kInfinity};
  const Ms time = step_ms(table, *made);
  return {*std::move(made), time};
}

}  // namespace stowage
