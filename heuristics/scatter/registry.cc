#include "heuristics/scatter/registry.h"

#include <bit>
#include <utility>

#include "heuristics/scatter/bytescale.h"
#include "heuristics/scatter/homogeneous.h"
#include "heuristics/scatter/joint.h"
#include "heuristics/scatter/megatron.h"
#include "heuristics/scatter/skrull.h"

namespace stowage {
namespace {

// More degrees than this are listed by their powers of two only.
constexpr std::size_t kMostHomogeneous = 20;
constexpr double kFastMoves = 420;  // of annealing, per sequence
constexpr double kJointMoves = 40000;

std::optional<ScatterPlan> planned(const ScatterInstance& instance, const ScatterTable& table,
                                   const std::optional<StepDraft>& step) {
  if (!step) return std::nullopt;
  return to_plan(instance, table, *step);
}

}  // namespace

std::vector<ScatterHeuristic> heuristics(const ScatterInstance& instance) {
  std::vector<ScatterHeuristic> all;
  const auto add = [&](std::string name, std::string summary, std::string source, auto make) {
    all.push_back(
        {std::move(name), std::move(summary), std::move(source),
         [make](const ScatterInstance& step, const ScatterTable& table, std::uint64_t seed,
                const Budget& budget) { return planned(step, table, make(table, seed, budget)); }});
  };
  const bool many = instance.cluster.degrees.size() > kMostHomogeneous;
  for (std::size_t level = 0; level < instance.cluster.degrees.size(); ++level) {
    if (many && !std::has_single_bit(static_cast<unsigned>(instance.cluster.degrees[level]))) {
      continue;
    }
    const std::string degree = std::to_string(instance.cluster.degrees[level]);
    add("homogeneous-" + degree, "every group has degree " + degree + ", best-fit-decreasing",
        "FlexSP section 6.1, static baselines",
        [level](const ScatterTable& table, std::uint64_t, const Budget&) {
          return homogeneous(table, static_cast<int>(level));
        });
  }
  add("batch-ada", "the best homogeneous degree of this step",
      "FlexSP section 6.1, FlexSP-BatchAda",
      [](const ScatterTable& table, std::uint64_t, const Budget& budget) {
        return batch_ada(table, kPublishedFill, budget);
      });
  add("skrull", "each sequence local to one device or sharded over all",
      "Skrull (arXiv 2505.19609) section 4",
      [](const ScatterTable& table, std::uint64_t, const Budget&) { return skrull(table); });
  add("bytescale", "each sequence on as many devices as it fills, like work at the same time",
      "ByteScale (arXiv 2502.21231) sections 4 and 5",
      [](const ScatterTable& table, std::uint64_t, const Budget&) { return bytescale(table); });
  add("megatron-dcp", "least power-of-two degree per sequence, micro-batches by workload",
      "Megatron Core, BalancedCPScheduler",
      [](const ScatterTable& table, std::uint64_t, const Budget&) { return megatron(table); });
  add("fast", "starts from all chunkings race under a short annealing", "",
      [](const ScatterTable& table, std::uint64_t seed, const Budget& budget) {
        return joint(table, {.moves = kFastMoves}, seed, budget);
      });
  add("joint", "starts from all chunkings race under a long annealing", "",
      [](const ScatterTable& table, std::uint64_t seed, const Budget& budget) {
        return joint(table, {.moves = kJointMoves, .path_rounds = 200}, seed, budget);
      });
  return all;
}

}  // namespace stowage
