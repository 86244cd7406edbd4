#include "heuristics/scatter/registry.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "heuristics/scatter/construct/heterogeneous_cluster_multistart.h"
#include "heuristics/scatter/construct/multistart.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "heuristics/scatter/published/bytescale.h"
#include "heuristics/scatter/published/homogeneous.h"
#include "heuristics/scatter/published/megatron_dp_balanced.h"
#include "heuristics/scatter/published/megatron_dynamic.h"
#include "heuristics/scatter/published/megatron_hybrid.h"
#include "heuristics/scatter/published/skrull.h"
#include "heuristics/scatter/published/verl.h"
#include "heuristics/scatter/uniform_recomputation.h"

namespace stowage {
namespace {

// If there are more degrees than this, only powers of two are listed.
constexpr std::size_t kMaxHomogeneous = 20;
// Steps of fewer sequences get more moves per sequence, up to kMaxForFew times, because they are
// planned quickly.
constexpr double kFewSequences = 256;
constexpr double kMaxForFew = 3;
constexpr int kLongPaths = 20;  // path rounds of `joint` per round of `fast`
// Sequences; on larger steps the published planners take longer than ours.
constexpr int kMaxPublished = 20000;

std::optional<ScatterPlan> planned(const ScatterInstance& instance, const ScatterTable& table,
                                   std::optional<WorkingStep> step) {
  if (step) step = repaired_in_best_forms(table, *std::move(step));
  if (!step) return std::nullopt;
  return to_plan(instance, table, *step);
}

// Returns the fastest step among the published trainers' planners and `ours`. The published
// planners run first, so that a time limit cuts only `ours`. So our methods never lose to a
// baseline.
template <class Ours>
std::optional<WorkingStep> or_published(const ScatterTable& table, const Budget& budget,
                                        Ours ours) {
  std::optional<WorkingStep> best;
  const auto offer = [&](std::optional<WorkingStep> other) {
    if (other) other = repaired_in_best_forms(table, *std::move(other));
    if (other && (!best || step_ms(table, *other) < step_ms(table, *best))) best = std::move(other);
  };
  if (table.size() <= kMaxPublished) {
    if (!budget.exhausted()) offer(fastest_recomputation(table, megatron_dynamic));
    if (!budget.exhausted()) offer(dp_balanced(table, budget));
    if (!budget.exhausted()) offer(verl(table, budget));
  }
  std::optional<WorkingStep> step = ours();
  if (step) step = repaired_in_best_forms(table, *std::move(step));
  if (!step || (best && step_ms(table, *best) < step_ms(table, *step))) return best;
  return step;
}

double fast_moves(const ScatterTable& table, double moves) {
  return moves * std::clamp(kFewSequences / std::max(1, table.size()), 1.0, kMaxForFew);
}

}  // namespace

std::vector<ScatterHeuristic> heuristics(const ScatterInstance& instance,
                                         const MultistartParams& params,
                                         std::vector<WorkingStep>* others) {
  std::vector<ScatterHeuristic> all;
  const auto add = [&](std::string name, std::string summary, std::string source, auto make) {
    all.push_back(
        {std::move(name), std::move(summary), std::move(source),
         [make](const ScatterInstance& step, const ScatterTable& table, std::uint64_t seed,
                const Budget& budget) { return planned(step, table, make(table, seed, budget)); }});
  };
  if (!instance.cluster.kinds.empty()) {
    add("first-fit", "chunks of even tokens, long sequences on fast devices first", "",
        [](const ScatterTable& table, std::uint64_t, const Budget& budget) {
          return first_fit_on_kinds(table, budget);
        });
    add("fast", "starts from all chunkings race under a short annealing", "",
        [moves = params.moves](const ScatterTable& table, std::uint64_t seed,
                               const Budget& budget) {
          return heterogeneous_multistart(table, moves, seed, budget);
        });
    add("joint", "starts from all chunkings race under a long annealing", "",
        [moves = params.long_moves](const ScatterTable& table, std::uint64_t seed,
                                    const Budget& budget) {
          return heterogeneous_multistart(table, moves, seed, budget);
        });
    return all;
  }
  const std::vector<int> degrees = allowed_degrees(instance);
  const bool many = degrees.size() > kMaxHomogeneous;
  for (std::size_t config = 0; config < degrees.size(); ++config) {
    if (many && !std::has_single_bit(static_cast<unsigned>(degrees[config]))) continue;
    const std::string degree = std::to_string(degrees[config]);
    add("homogeneous-" + degree, "every group has degree " + degree + ", best-fit-decreasing",
        "FlexSP section 6.1, static baselines",
        [degree = degrees[config]](const ScatterTable& table, std::uint64_t, const Budget&) {
          return fastest_recomputation(table, [&](const ScatterTable& own) {
            return homogeneous(own, own.config_of(degree));
          });
        });
  }
  add("batch-ada", "the best homogeneous degree of this step",
      "FlexSP section 6.1, FlexSP-BatchAda",
      [](const ScatterTable& table, std::uint64_t, const Budget& budget) {
        return batch_ada(table, kPublishedFill, budget);
      });
  add("skrull", "each sequence local to one device or sharded over all",
      "Skrull (arXiv 2505.19609) section 4",
      [](const ScatterTable& table, std::uint64_t, const Budget&) {
        return fastest_recomputation(table, skrull);
      });
  add("bytescale", "each sequence on as many devices as it fills, like work at the same time",
      "ByteScale (arXiv 2502.21231) sections 4 and 5",
      [](const ScatterTable& table, std::uint64_t, const Budget&) {
        return fastest_recomputation(table, bytescale);
      });
  add("megatron-hybrid", "least power-of-two degree per sequence, micro-batches by workload",
      "Megatron Core, BalancedCPScheduler",
      [](const ScatterTable& table, std::uint64_t, const Budget&) {
        return fastest_recomputation(table, megatron_hybrid);
      });
  add("megatron-dynamic", "packed micro-batches of even workload, no rank idle",
      "Megatron Core, packing scheduler default_dynamic_cp",
      [](const ScatterTable& table, std::uint64_t, const Budget&) {
        return fastest_recomputation(table, megatron_dynamic);
      });
  add("dp-balanced", "packs of one degree in the order of the data",
      "Megatron Core, packing scheduler dp_balanced",
      [](const ScatterTable& table, std::uint64_t, const Budget& budget) {
        return dp_balanced(table, budget);
      });
  add("verl", "one degree; Karmarkar-Karp over ranks in equal counts, then over micro-batches",
      "verl utils/seqlen_balancing.py, rearrange_micro_batches",
      [](const ScatterTable& table, std::uint64_t, const Budget& budget) {
        return verl(table, budget);
      });
  add("fast", "starts from all chunkings race under a short annealing", "",
      [params, others](const ScatterTable& table, std::uint64_t seed, const Budget& budget) {
        return or_published(table, budget, [&] {
          return joint(table,
                       {.moves = fast_moves(table, params.moves),
                        .path_rounds = params.path_rounds,
                        .race = params,
                        .others = others},
                       seed, budget);
        });
      });
  add("joint", "starts from all chunkings race under a long annealing", "",
      [params, others](const ScatterTable& table, std::uint64_t seed, const Budget& budget) {
        return or_published(table, budget, [&] {
          return joint(table,
                       {.moves = params.long_moves,
                        .path_rounds = kLongPaths * params.path_rounds,
                        .race = params,
                        .others = others},
                       seed, budget);
        });
      });
  return all;
}

}  // namespace stowage
