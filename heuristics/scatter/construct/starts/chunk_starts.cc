#include "heuristics/scatter/construct/starts/chunk_starts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/scatter/construct/equal_counts/equal_count_grouping.h"
#include "heuristics/scatter/construct/starts/hopeful_counts.h"
#include "heuristics/scatter/construct/starts/start_field.h"
#include "heuristics/scatter/published/homogeneous.h"
#include "heuristics/scatter/published/megatron_hybrid.h"
#include "heuristics/scatter/uniform_recomputation.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr double kPathWorthwhile = 5e-3;
constexpr int kPathSpread = 1;
constexpr int kTokenCounts = 2;   // micro-batch counts of token-balanced chunks
constexpr int kSpreadCounts = 3;  // micro-batch counts of spread chunks

// Groups the positions, halving them if necessary. Returns false if a single sequence cannot be
// grouped.
bool group_or_halve(const ScatterTable& table, std::span<const int> positions,
                    const GroupingEffort& effort, WorkingStep& step) {
  if (positions.empty()) return true;
  if (std::optional<WorkingMicroBatch> batch = group_micro_batch(table, positions, effort)) {
    step.push_back(std::move(*batch));
    return true;
  }
  if (positions.size() == 1) return false;
  // Splitting by even and odd positions keeps long and short sequences in both halves.
  std::vector<int> halves[2];
  for (std::size_t i = 0; i < positions.size(); ++i) halves[i % 2].push_back(positions[i]);
  return group_or_halve(table, halves[0], effort, step) &&
         group_or_halve(table, halves[1], effort, step);
}

}  // namespace

std::optional<WorkingStep> group_chunks(const ScatterTable& table, const Chunks& chunks,
                                        const GroupingEffort& effort, const Budget& budget) {
  WorkingStep step;
  for (const std::vector<int>& chunk : chunks) {
    if (budget.exhausted()) return std::nullopt;
    if (!group_or_halve(table, chunk, effort, step)) return std::nullopt;
  }
  return step;
}

namespace {

struct PathStarts {
  std::vector<WorkingStep> best;
  std::vector<WorkingStep> outrun;
};

PathStarts over_shortest_paths(const ScatterTable& table, int rounds, const Budget& budget) {
  // Chunks are consecutive, so their first and last positions identify them.
  std::map<std::pair<int, int>, WorkingMicroBatch> grouped;
  const ChunkCost cost = [&](std::span<const int> positions) {
    auto batch = group_micro_batch(table, positions, kQuickGrouping);
    if (!batch) return kInfinity;
    const Ms makespan = batch->makespan;
    grouped[{positions.front(), positions.back()}] = std::move(*batch);
    return makespan;
  };
  const auto drafts = [&](const std::vector<Chunks>& paths) {
    std::vector<WorkingStep> steps;
    for (const Chunks& chunks : paths) {
      WorkingStep& step = steps.emplace_back();
      for (const std::vector<int>& chunk : chunks) {
        step.push_back(grouped.at({chunk.front(), chunk.back()}));
      }
    }
    return steps;
  };
  const PathEffort effort{rounds, kPathWorthwhile, kPathSpread};
  const ChunkPaths paths = shortest_path_chunks(table, cost, effort, budget);
  return {.best = drafts(paths.best), .outrun = drafts(paths.outrun)};
}

// Adds starts of the fewest micro-batches that `memory` allows and of a few more. All counts keep
// the rule on multiples. Other counts would be repaired by splitting or uniting micro-batches.
template <class Add>
void add_chunk_starts(const ScatterTable& table, const ScatterTable& memory, const Budget& budget,
                      Add add) {
  const auto multiple =
      static_cast<int>(std::min<std::int64_t>(table.multiple(), std::max(1, table.size())));
  const int fewest = (fewest_micro_batches(memory) + multiple - 1) / multiple * multiple;
  for (int more = 0; more < kTokenCounts; ++more) {
    add(group_chunks(table, token_chunks(table, fewest + more * multiple), kQuickGrouping, budget));
  }
  if (memory.size() == 0 || memory.alone(0) < kInfinity) {
    add(group_chunks(table, first_fit_chunks(memory), kQuickGrouping, budget));
  }
  std::vector<int> counts;
  for (int more = 0; more < kSpreadCounts; ++more) counts.push_back(fewest + more * multiple);
  if (table.longest_weight() > 0) {
    for (const int count : hopeful_counts(table)) {
      if (std::ranges::count(counts, count) == 0) counts.push_back(count);
    }
  }
  for (const int count : counts) {
    if (const auto chunks = spread_chunks(table, count)) {
      add(group_chunks(table, *chunks, kQuickGrouping, budget));
    }
  }
}

}  // namespace

std::vector<WorkingStep> chunk_starts(const ScatterTable& table, int path_rounds,
                                      const Budget& budget) {
  std::vector<WorkingStep> all;
  const auto add = [&](std::optional<WorkingStep> step) { add_start(table, std::move(step), all); };
  add(batch_ada(table, 1));
  add(fastest_recomputation(table, megatron_hybrid));
  if (table.equal_sequences()) {
    add(fastest_recomputation(table,
                              [&](const ScatterTable& own) { return even_chunks(own, budget); }));
  }
  PathStarts paths = over_shortest_paths(table, path_rounds, budget);
  for (WorkingStep& step : paths.best) add(std::move(step));
  for (WorkingStep& step : paths.outrun) add_if_best(table, std::move(step), all);
  add_chunk_starts(table, table, budget, add);
  // A recomputation mode with less memory needs more micro-batches than the fewest over all modes.
  for (int mode = 0; mode < table.recomputations(); ++mode) {
    const ScatterTable& own = table.recomputing(mode);
    if (own.device_tokens() == 0) continue;
    if (fewest_micro_batches(own) > fewest_micro_batches(table)) {
      add_chunk_starts(table, own, budget, add);
    }
  }
  return all;
}

}  // namespace stowage
