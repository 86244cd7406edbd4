#include "heuristics/scatter/registry.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "heuristics/scatter/construct/heterogeneous_cluster_multistart.h"
#include "heuristics/scatter/construct/multistart.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "heuristics/scatter/mixed/mixed_search.h"
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

// Returns the step with at most the host memory for the activations of full micro-batches whose
// copies hide under compute, as if all sequences had the mean device-time of a token. If q of the m
// MiB of a token hide, devices hold C_0 m / (m - q) tokens, and q times these are on the host.
std::optional<ScatterInstance> with_hidden_copies(const ScatterInstance& instance,
                                                  const ScatterTable& table) {
  if (!instance.model.offload || table.size() == 0) return std::nullopt;
  const ActivationOffload& offload = *instance.model.offload;
  const Ms token_ms = table.total_area() / static_cast<double>(table.total_tokens());
  const Mib hidden = token_ms * std::min(offload.forward_share * offload.out_mib_per_ms,
                                         (1 - offload.forward_share) * offload.in_mib_per_ms);
  const GroupForm largest = largest_form(instance);
  const Mib all = token_mib(instance, largest);
  if (!(hidden < offload_mib(instance, largest))) return std::nullopt;
  const Mib host =
      hidden * static_cast<double>(resident_tokens(instance, largest)) * all / (all - hidden);
  if (offload.host_mib && !(host < *offload.host_mib)) return std::nullopt;
  ScatterInstance limited = instance;
  limited.model.offload->host_mib = host;
  if (!unplaceable_sequences(limited).empty()) return std::nullopt;
  return limited;
}

// Plans with `make` for less host memory as well, and returns the fastest plan. A search that fills
// memory first and counts copies later would not find how little of the host pays. The plan without
// offload comes first, so that no plan is slower.
template <class Make>
std::optional<ScatterPlan> planned_with_copies(const ScatterInstance& instance,
                                               const ScatterTable& table, const Make& make,
                                               std::uint64_t seed, const Budget& budget) {
  std::optional<ScatterPlan> best;
  const auto offer = [&](const ScatterTable& own) {
    if (best && budget.exhausted()) return;
    std::optional<ScatterPlan> plan = planned(instance, own, make(own, seed, budget));
    if (plan && (!best || plan->objective_ms < best->objective_ms)) best = std::move(plan);
  };
  if (const auto plain = without_offload(instance)) offer(ScatterTable(*plain));
  if (const auto limited = with_hidden_copies(instance, table)) offer(ScatterTable(*limited));
  offer(table);
  return best;
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

// Returns the step of mixed micro-batches from our step without them and from Skrull's.
WorkingStep mixed(const ScatterTable& table, WorkingStep plain, double moves,
                  const MultistartParams& params, std::uint64_t seed, const Budget& budget) {
  std::vector<WorkingStep> others{std::move(plain)};
  if (auto published = mixed_skrull(table)) others.push_back(*std::move(published));
  return best_mixed(table, others, moves, params, seed, budget);
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
    const bool is_published = !source.empty();
    all.push_back({std::move(name), std::move(summary), std::move(source),
                   [make, is_published](const ScatterInstance& step, const ScatterTable& table,
                                        std::uint64_t seed, const Budget& budget) {
                     if (!step.model.offload)
                       return planned(step, table, make(table, seed, budget));
                     if (!is_published) return planned_with_copies(step, table, make, seed, budget);
                     // Published planners know no offload.
                     const std::optional<ScatterInstance> plain = without_offload(step);
                     if (!plain) return planned(step, table, make(table, seed, budget));
                     const ScatterTable own(*plain);
                     return planned(step, own, make(own, seed, budget));
                   }});
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
        return table.mixes() ? mixed_skrull(table) : fastest_recomputation(table, skrull);
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
  const auto mixed_too = [params](const ScatterTable& table, std::optional<WorkingStep> step,
                                  double moves, std::uint64_t seed, const Budget& budget) {
    if (!step || step->empty() || !table.mixes()) return step;
    return std::optional(mixed(table, *std::move(step), moves, params, seed, budget));
  };
  add("fast", "starts from all chunkings race under a short annealing", "",
      [params, others, mixed_too](const ScatterTable& table, std::uint64_t seed,
                                  const Budget& budget) {
        const double moves = fast_moves(table, params.moves);
        std::optional<WorkingStep> step = or_published(table, budget, [&] {
          return joint(
              table,
              {.moves = moves, .path_rounds = params.path_rounds, .race = params, .others = others},
              seed, budget);
        });
        return mixed_too(table, std::move(step), moves, seed, budget);
      });
  add("joint", "starts from all chunkings race under a long annealing", "",
      [params, others, mixed_too](const ScatterTable& table, std::uint64_t seed,
                                  const Budget& budget) {
        std::optional<WorkingStep> step = or_published(table, budget, [&] {
          return joint(table,
                       {.moves = params.long_moves,
                        .path_rounds = kLongPaths * params.path_rounds,
                        .race = params,
                        .others = others},
                       seed, budget);
        });
        return mixed_too(table, std::move(step), params.long_moves, seed, budget);
      });
  return all;
}

}  // namespace stowage
