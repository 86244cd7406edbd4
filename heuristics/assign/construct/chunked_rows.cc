#include "heuristics/assign/construct/chunked_rows.h"

#include <optional>
#include <utility>
#include <vector>

#include "heuristics/assign/construct/chunk_planner.h"
#include "heuristics/assign/construct/chunked_step.h"
#include "instances/assign/plan_builder.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Runs `fast` on `step` and returns its plan for the instance.
std::optional<AssignPlan> chunked_plan_of(const AssignInstance& instance, const ChunkedStep& step,
                                          const AssignChunkParams& params, bool needed,
                                          const Budget& budget) {
  ChunkPlanner planner(step, params);
  std::optional<std::vector<ReplicaChoice>> best;
  int chosen = 0;
  Ms least = kInfinity;
  const auto attempt = [&](int strategy, bool must, const Budget& limit) {
    auto choices = planner.plan(strategy, must, limit);
    if (!choices) return;
    if (best && std::pair(least, chosen) <= std::pair(planner.time(), strategy)) return;
    least = planner.time();
    chosen = strategy;
    best = std::move(choices);
  };
  const std::vector<int> order = step.strategies();
  // The plan of time limit 0 is computed first, so that a longer limit never gives a slower plan.
  const Budget none({.time_limit_s = 0});
  for (std::size_t k = 0; needed && !best && k < order.size(); ++k) attempt(order[k], true, none);
  for (const int strategy : order) {
    if (budget.exhausted()) break;
    attempt(strategy, false, budget);
  }
  if (!best) return std::nullopt;
  return compose_assign(instance, chosen, std::move(*best), budget);
}

}  // namespace

// If chunks may have individual boundaries, the step is planned a second time with the costs of
// chunks of one size. Individual boundaries make no replica of that plan slower.
std::optional<AssignPlan> assign_chunked(const AssignInstance& instance,
                                         const AssignChunkParams& params, bool needed,
                                         const Budget& budget) {
  std::optional<AssignPlan> best =
      chunked_plan_of(instance, ChunkedStep(instance), params, needed, budget);
  if (instance.constraints.chunks->boundaries == ChunkBoundaries::fixed) return best;
  if (best && budget.exhausted()) return best;
  AssignInstance fixed = instance;
  fixed.constraints.chunks->boundaries = ChunkBoundaries::fixed;
  std::optional<AssignPlan> other =
      chunked_plan_of(instance, ChunkedStep(fixed), params, needed && !best, budget);
  if (other && (!best || other->objective_ms < best->objective_ms)) best = std::move(other);
  return best;
}

}  // namespace stowage
