#include "heuristics/scatter/construct/heterogeneous_cluster_multistart.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "heuristics/scatter/construct/chunking.h"
#include "heuristics/scatter/construct/grouping.h"
#include "heuristics/scatter/construct/multistart.h"
#include "heuristics/scatter/construct/starts/chunk_starts.h"
#include "heuristics/scatter/improve/anneal.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr int kCounts = 4;  // micro-batch counts tried, from the fewest on
constexpr PathEffort kPath{.rounds = 30, .worthwhile = 5e-3, .spread = 1};
constexpr std::size_t kRacing = 4;
constexpr int kRounds = 3;

// Returns starts with the fewest micro-batches that memory allows, and with a few more.
std::vector<WorkingStep> starts(const ScatterTable& table, const Budget& budget) {
  std::vector<WorkingStep> all;
  const auto add = [&](std::optional<WorkingStep> step) {
    if (step) step = repaired_in_best_forms(table, *std::move(step));
    if (step) all.push_back(*std::move(step));
  };
  const int fewest = std::max(1, fewest_micro_batches(table));
  for (int count = fewest; count < fewest + kCounts; ++count) {
    add(group_chunks(table, token_chunks(table, count), kQuickGrouping, budget));
    if (const auto chunks = spread_chunks(table, count)) {
      add(group_chunks(table, *chunks, kQuickGrouping, budget));
    }
  }
  std::map<std::pair<int, int>, WorkingMicroBatch> grouped;
  const ChunkCost cost = [&](std::span<const int> positions) {
    auto batch = group_micro_batch(table, positions, kQuickGrouping);
    if (!batch) return kInfinity;
    const Ms makespan = batch->makespan;
    grouped[{positions.front(), positions.back()}] = *std::move(batch);
    return makespan;
  };
  ChunkPaths paths = shortest_path_chunks(table, cost, kPath, budget);
  std::ranges::move(paths.outrun, std::back_inserter(paths.best));
  for (const Chunks& chunks : paths.best) {
    WorkingStep step;
    for (const std::vector<int>& chunk : chunks) {
      step.push_back(grouped.at({chunk.front(), chunk.back()}));
    }
    add(std::move(step));
  }
  return all;
}

}  // namespace

std::optional<WorkingStep> first_fit_on_kinds(const ScatterTable& table, const Budget& budget) {
  if (table.size() > 0 && table.alone(0) == kInfinity) return std::nullopt;
  const int fewest = std::max(1, fewest_micro_batches(table));
  return group_chunks(table, token_chunks(table, fewest), kQuickGrouping, budget);
}

std::optional<WorkingStep> heterogeneous_multistart(const ScatterTable& table, double moves,
                                                    std::uint64_t seed, const Budget& budget) {
  if (table.size() == 0) return WorkingStep();
  std::vector<WorkingStep> field = starts(table, budget);
  if (field.empty()) return first_fit_on_kinds(table, budget);
  const auto time = [&](const WorkingStep& step) { return step_ms(table, step); };
  std::ranges::stable_sort(field, {}, time);
  field.resize(std::min(field.size(), kRacing));
  const auto steps = static_cast<double>(anneal_steps(table, moves));
  double hot = kHotAnnealing;
  for (int round = 0; round < kRounds; ++round) {
    const double share = steps / kRounds / static_cast<double>(field.size());
    for (WorkingStep& step : field) {
      if (budget.exhausted()) break;
      anneal(table, step, {.steps = static_cast<std::int64_t>(share), .hot = hot},
             seed + static_cast<std::uint64_t>(round), budget);
    }
    std::ranges::stable_sort(field, {}, time);
    field.resize((field.size() + 1) / 2);
    hot /= 2;
  }
  return std::move(field.front());
}

}  // namespace stowage
