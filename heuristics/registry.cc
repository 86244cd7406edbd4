#include "heuristics/registry.h"

#include <limits>
#include <map>
#include <span>
#include <utility>

#include "heuristics/scatter_homogeneous.h"
#include "heuristics/scatter_joint.h"

namespace stowage {
namespace {

constexpr GroupingEffort kQuick{.mixes = 60, .polish_rounds = 32};
constexpr GroupingEffort kThorough{.mixes = 4000, .polish_rounds = 128};
constexpr int kMicroBatchCounts = 5;  // as many as FlexSP tries

std::optional<ScatterPlan> planned(const ScatterInstance& instance, const ScatterTable& table,
                                   const std::optional<StepDraft>& step) {
  if (!step) return std::nullopt;
  return to_plan(instance, table, *step);
}

void keep_better(std::optional<StepDraft>& best, std::optional<StepDraft> step) {
  if (step && (!best || total(*step) < total(*best))) best = std::move(step);
}

// FlexSP's chunks for a few micro-batch counts, each grouped by enumeration.
std::optional<StepDraft> over_token_chunks(const ScatterTable& table, const Budget& budget) {
  std::optional<StepDraft> best;
  const int fewest = fewest_micro_batches(table);
  for (int count = fewest; count < fewest + kMicroBatchCounts && !budget.exhausted(); ++count) {
    keep_better(best, group_chunks(table, token_chunks(table, count), kQuick, budget));
  }
  return best;
}

std::optional<StepDraft> over_spread_chunks(const ScatterTable& table, const Budget& budget) {
  std::optional<StepDraft> best = group_chunks(table, first_fit_chunks(table), kQuick, budget);
  const int fewest = fewest_micro_batches(table);
  for (int count = fewest; count < fewest + kMicroBatchCounts && !budget.exhausted(); ++count) {
    if (const auto chunks = spread_chunks(table, count)) {
      keep_better(best, group_chunks(table, *chunks, kQuick, budget));
    }
  }
  return best;
}

std::optional<StepDraft> over_shortest_path(const ScatterTable& table, const GroupingEffort& effort,
                                            int rounds, const Budget& budget) {
  // Chunks are consecutive: first and last position name them.
  std::map<std::pair<int, int>, MicroBatchDraft> grouped;
  const ChunkCost cost = [&](std::span<const int> positions) {
    auto batch = group_micro_batch(table, positions, effort);
    if (!batch) return std::numeric_limits<Ms>::infinity();
    const Ms makespan = batch->makespan;
    grouped[{positions.front(), positions.back()}] = std::move(*batch);
    return makespan;
  };
  const auto chunks = shortest_path_chunks(table, cost, rounds, budget);
  if (!chunks) return std::nullopt;
  StepDraft step;
  for (const std::vector<int>& chunk : *chunks) {
    step.push_back(std::move(grouped.at({chunk.front(), chunk.back()})));
  }
  return step;
}

// Quick and thorough differ in effort only. Begins with something valid, so that a budget that ends
// at once leaves a plan.
std::optional<StepDraft> joint(const ScatterTable& table, std::uint64_t seed, const Budget& budget,
                               const GroupingEffort& effort, int rounds, int exchanges) {
  std::optional<StepDraft> best = batch_ada(table);
  keep_better(best, over_token_chunks(table, budget));
  keep_better(best, over_shortest_path(table, effort, rounds, budget));
  keep_better(best, over_spread_chunks(table, budget));
  if (!best) return best;
  dissolve(table, *best, kQuick, budget);
  exchange(table, *best, exchanges, seed, budget);
  return best;
}

}  // namespace

std::vector<ScatterHeuristic> scatter_heuristics(const ScatterInstance& instance) {
  std::vector<ScatterHeuristic> all;
  const auto add = [&](std::string name, std::string summary, std::string source, auto make) {
    all.push_back({std::move(name), std::move(summary), std::move(source),
                   [make](const ScatterInstance& step, std::uint64_t seed, const Budget& budget) {
                     const ScatterTable table(step);
                     return planned(step, table, make(table, seed, budget));
                   }});
  };
  for (std::size_t level = 0; level < instance.cluster.degrees.size(); ++level) {
    const std::string degree = std::to_string(instance.cluster.degrees[level]);
    add("homogeneous-" + degree, "every group has degree " + degree + ", best-fit-decreasing",
        "FlexSP section 6.1, static baselines",
        [level](const ScatterTable& table, std::uint64_t, const Budget&) {
          return homogeneous(table, static_cast<int>(level));
        });
  }
  add("batch-ada", "the best homogeneous degree of this step",
      "FlexSP section 6.1, FlexSP-BatchAda",
      [](const ScatterTable& table, std::uint64_t, const Budget&) { return batch_ada(table); });
  add("token-chunks", "token-balanced chunks, group counts enumerated, LPT and move/swap", "",
      [](const ScatterTable& table, std::uint64_t, const Budget& budget) {
        return over_token_chunks(table, budget);
      });
  add("spread-chunks", "chunks of long and short sequences by LPT or first fit, then groups", "",
      [](const ScatterTable& table, std::uint64_t, const Budget& budget) {
        return over_spread_chunks(table, budget);
      });
  add("shortest-path", "chunks by shortest path over priced micro-batches", "",
      [](const ScatterTable& table, std::uint64_t, const Budget& budget) {
        return over_shortest_path(table, kThorough, 60, budget);
      });
  add("fast", "all chunkings quickly, then a short exchange between micro-batches", "",
      [](const ScatterTable& table, std::uint64_t seed, const Budget& budget) {
        return joint(table, seed, budget, kQuick, 6, 200);
      });
  add("joint", "all chunkings thoroughly, then a long exchange between micro-batches", "",
      [](const ScatterTable& table, std::uint64_t seed, const Budget& budget) {
        return joint(table, seed, budget, kThorough, 60, 20000);
      });
  return all;
}

}  // namespace stowage
