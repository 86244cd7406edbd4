#include "instances/assign/plan_builder.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "instances/assign/chunks/chunk_cuts.h"
#include "instances/assign/chunks/chunk_flow.h"
#include "instances/pipeline/schedule.h"
#include "instances/ticker.h"

namespace stowage {
namespace {

AssignRow compose_row(const AssignInstance& instance, const Scheme& scheme,
                      std::vector<std::int64_t> ids) {
  struct Padded {
    Tokens length = 0;
    std::int64_t id = 0;
  };
  std::vector<Padded> padded;
  padded.reserve(ids.size());
  AssignRow row{.time_ms = scheme.fixed_ms};
  for (const std::int64_t id : ids) {
    const Tokens own = instance.lengths[static_cast<std::size_t>(id)];
    padded.push_back({padded_length(instance, own), id});
    row.loss_tokens += targets_of(instance, id);
  }
  const auto longer = [](const Padded& a, const Padded& b) {
    return a.length != b.length ? a.length > b.length : a.id < b.id;
  };
  if (!std::ranges::is_sorted(padded, longer)) std::ranges::sort(padded, longer);
  row.cu_seqlens.reserve(ids.size() + 1);
  row.cu_seqlens.push_back(0);
  for (std::size_t i = 0; i < padded.size(); ++i) {
    const auto s = static_cast<double>(padded[i].length);
    ids[i] = padded[i].id;
    row.tokens += padded[i].length;
    row.cu_seqlens.push_back(row.tokens);
    row.time_ms += scheme.quadratic_ms * s * s + scheme.linear_ms * s;
  }
  row.sequences = std::move(ids);
  return row;
}

constexpr std::int64_t kOrderings = 300;         // simulations per replica
constexpr std::int64_t kFewestOrderings = 4;     // for many rows: the fixed orders
constexpr std::int64_t kMostPasses = 1'000'000;  // of rows through stages, in all simulations

// Passes that the simulations of one plan may take once the budget is exhausted: some milliseconds.
constexpr double kFreePasses = 2e6;

std::vector<Ms> times_of(const std::vector<AssignRow>& rows) {
  std::vector<Ms> times;
  for (const AssignRow& row : rows) times.push_back(row.time_ms);
  return times;
}

bool is_cut(const AssignInstance& instance, std::int64_t id) {
  const std::optional<ChunkRule>& rule = instance.constraints.chunks;
  return rule &&
         padded_length(instance, instance.lengths[static_cast<std::size_t>(id)]) > rule->size;
}

// Adds the rows of a sequence's parts, in order. Without a `cut` the parts have the rule's size.
void cut_row(const AssignInstance& instance, const Scheme& scheme, std::int64_t id,
             const SequenceCut* cut, std::vector<AssignRow>& rows) {
  const ChunkRule& rule = *instance.constraints.chunks;
  const Tokens own = instance.lengths[static_cast<std::size_t>(id)];
  const Tokens length = padded_length(instance, own);
  const Tokens count =
      cut == nullptr ? (length + rule.size - 1) / rule.size : std::ssize(cut->ends);
  Tokens end = 0;
  for (Tokens index = 0; index < count; ++index) {
    const Tokens begin = end;
    end = cut == nullptr ? std::min(begin + rule.size, length)
                         : cut->ends[static_cast<std::size_t>(index)];
    const Chunk chunk{
        {{id, begin, end}}, static_cast<std::size_t>(index), static_cast<std::size_t>(count)};
    rows.push_back(
        {.sequences = {id},
         .part = TokenRange{begin, end},
         .tokens = end - begin,
         .loss_tokens = std::min(end, own) - std::min(begin, own),
         .time_ms = chunk_pass_ms(chunk, scheme, static_cast<std::size_t>(rule.retained)),
         .cu_seqlens = {0, end - begin}});
  }
}

// Returns the cuts of a replica's sequences, by their length; empty for parts of the rule's size.
std::map<Tokens, SequenceCut> cuts_of(const AssignInstance& instance, const ReplicaChoice& choice,
                                      const std::vector<AssignRow>& whole, ReplicaCuts& cuts) {
  Ms longest = 0;
  for (const AssignRow& row : whole) longest = std::max(longest, row.time_ms);
  std::map<Tokens, std::int64_t> counts;
  for (const std::vector<std::int64_t>& ids : choice.rows) {
    if (ids.empty() || !is_cut(instance, ids.front())) continue;
    ++counts[padded_length(instance, instance.lengths[static_cast<std::size_t>(ids.front())])];
  }
  if (counts.empty()) return {};
  return cuts.of(counts, longest);
}

// Adds the rows of cut sequences behind those of whole sequences.
void cut_rows(const AssignInstance& instance, const Scheme& scheme, const ReplicaChoice& choice,
              std::optional<ReplicaCuts>& cuts, std::vector<AssignRow>& rows) {
  const auto own = cuts ? cuts_of(instance, choice, rows, *cuts) : std::map<Tokens, SequenceCut>();
  for (const std::vector<std::int64_t>& ids : choice.rows) {
    if (ids.empty() || !is_cut(instance, ids.front())) continue;
    const Tokens own_length = instance.lengths[static_cast<std::size_t>(ids.front())];
    const auto found = own.find(padded_length(instance, own_length));
    cut_row(instance, scheme, ids.front(), found == own.end() ? nullptr : &found->second, rows);
  }
}

// Rows that must stay together: a single row, or the rows of a sequence's parts.
struct RowGroup {
  std::size_t first = 0;
  std::size_t count = 0;
  Ms time = 0;
};

std::vector<RowGroup> groups_of(const std::vector<AssignRow>& rows) {
  std::vector<RowGroup> groups;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    if (!rows[j].part || rows[j].part->begin == 0) groups.push_back({.first = j});
    ++groups.back().count;
    groups.back().time += rows[j].time_ms;
  }
  return groups;
}

// Puts the rows with these indices in this order.
void arrange(std::vector<AssignRow>& rows, const std::vector<std::size_t>& order) {
  std::vector<AssignRow> ordered;
  ordered.reserve(rows.size());
  for (const std::size_t row : order) ordered.push_back(std::move(rows[row]));
  rows = std::move(ordered);
}

// Puts rows into the order, of a few, under which the pipeline ends first: standalone chunks before
// the cut sequences, as in ChunkFlow, or after them; each from long to short, or from short to
// long. Without time it takes the first of these orders. Returns the end of the pipeline in ms.
Ms put_chunks_in_order(const AssignInstance& instance, const Scheme& scheme, GuaranteedWork& time,
                       std::vector<AssignRow>& rows) {
  const auto retained = static_cast<std::size_t>(instance.constraints.chunks->retained);
  const std::vector<PipelineItem> items =
      chunk_items(chunks_of(instance, rows), scheme, retained, {});
  std::vector<RowGroup> groups = groups_of(rows);
  std::ranges::stable_sort(groups, std::greater<>{}, &RowGroup::time);
  std::vector<std::vector<std::size_t>> tried;
  std::size_t best = 0;
  Ms least = 0;
  for (const bool rising : {false, true}) {
    for (const bool cut_last : {true, false}) {
      if (!tried.empty() && time.exhausted(static_cast<double>(std::ssize(rows) * scheme.pp)))
        continue;
      std::ranges::stable_sort(groups, {}, [&](const RowGroup& group) {
        return std::pair((group.count > 1) == cut_last, rising ? group.time : -group.time);
      });
      std::vector<std::size_t> order;
      order.reserve(rows.size());
      for (const RowGroup& group : groups) {
        for (std::size_t k = 0; k < group.count; ++k) order.push_back(group.first + k);
      }
      if (std::ranges::find(tried, order) != tried.end()) continue;
      std::vector<PipelineItem> ordered;
      ordered.reserve(rows.size());
      for (const std::size_t row : order) ordered.push_back(items[row]);
      const Ms end = run_pipeline(ordered, scheme.pp).end / (1 + kBackwardPerForward);
      if (tried.empty() || end < least) {
        least = end;
        best = tried.size();
      }
      tried.push_back(std::move(order));
    }
  }
  arrange(rows, tried[best]);
  return least;
}

// Puts rows into a good order for the pipeline; returns the end of the pipeline in ms.
Ms put_in_order(const AssignInstance& instance, const Scheme& scheme, GuaranteedWork& time,
                std::vector<AssignRow>& rows) {
  if (rows.empty()) return 0;
  if (instance.constraints.chunks) return put_chunks_in_order(instance, scheme, time, rows);
  const int stages = scheme.pp;
  std::ranges::stable_sort(rows, std::greater<>{}, &AssignRow::time_ms);
  if (stages == 1) return simulate_1f1b(times_of(rows), stages);
  const std::int64_t passes = std::ssize(rows) * stages;
  const std::int64_t orderings =
      std::clamp(kMostPasses / (passes + 1), kFewestOrderings, kOrderings);
  RowOrder found = order_rows(times_of(rows), stages, orderings,
                              [&] { return !time.exhausted(static_cast<double>(passes)); });
  arrange(rows, found.rows);
  return found.end;
}

// Returns T of one replica: the sum of the rows' times, and the bubble, (stages - 1) times the
// longest row.
Ms replica_time_ms(const Scheme& scheme, const std::vector<AssignRow>& rows) {
  Ms sum = 0;
  Ms longest = 0;
  for (const AssignRow& row : rows) {
    sum += row.time_ms;
    longest = std::max(longest, row.time_ms);
  }
  return sum + (scheme.pp - 1) * longest;
}

}  // namespace

Ms simulated_ms(const AssignInstance& instance, const Scheme& scheme,
                const std::vector<AssignRow>& rows) {
  const std::optional<ChunkRule>& rule = instance.constraints.chunks;
  if (!rule) return simulate_1f1b(times_of(rows), scheme.pp);
  return run_chunks(chunks_of(instance, rows), scheme, static_cast<std::size_t>(rule->retained), {})
      .end;
}

AssignPlan compose_assign(const AssignInstance& instance, int strategy,
                          std::vector<ReplicaChoice> choices, const Budget& budget) {
  const Strategy& chosen = instance.strategies[static_cast<std::size_t>(strategy)];
  AssignPlan plan{.name = instance.name, .strategy = chosen.name};
  GuaranteedWork time(budget, kFreePasses);
  std::vector<std::vector<ReplicaChoice*>> choices_of(instance.schemes.size());
  for (ReplicaChoice& choice : choices) {
    choices_of[static_cast<std::size_t>(choice.scheme)].push_back(&choice);
  }
  for (std::size_t g = 0; g < chosen.replicas.size(); ++g) {
    const Scheme& scheme = instance.schemes[g];
    std::vector<AssignReplica> replicas;
    const std::optional<ChunkRule>& rule = instance.constraints.chunks;
    std::optional<ReplicaCuts> cuts;
    if (rule && rule->boundaries != ChunkBoundaries::fixed) {
      cuts.emplace(*rule, instance.pad_multiple, scheme);
    }
    for (ReplicaChoice* choice : choices_of[g]) {
      AssignReplica replica{.scheme = scheme.name};
      for (std::vector<std::int64_t>& ids : choice->rows) {
        if (ids.empty() || is_cut(instance, ids.front())) continue;
        replica.rows.push_back(compose_row(instance, scheme, std::move(ids)));
        ids.clear();
      }
      cut_rows(instance, scheme, *choice, cuts, replica.rows);
      for (const AssignRow& row : replica.rows) plan.loss_tokens += row.loss_tokens;
      const Ms end = put_in_order(instance, scheme, time, replica.rows);
      plan.simulated_1f1b_ms = std::max(plan.simulated_1f1b_ms, end);
      replica.time_ms = replica_time_ms(scheme, replica.rows);
      replicas.push_back(std::move(replica));
    }
    replicas.resize(static_cast<std::size_t>(chosen.replicas[g]), {.scheme = scheme.name});
    std::ranges::stable_sort(replicas, std::greater<>{}, &AssignReplica::time_ms);
    for (AssignReplica& replica : replicas) {
      plan.objective_ms = std::max(plan.objective_ms, replica.time_ms);
      plan.replicas.push_back(std::move(replica));
    }
  }
  return plan;
}

}  // namespace stowage
