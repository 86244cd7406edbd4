#include "tests/oracles/strategy/brute_force.h"

#include <utility>
#include <vector>

#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan_builder.h"
#include "instances/strategy/planning_table.h"

namespace stowage {
namespace {

// Enumerates all ways to assign the remaining layers to the remaining stages.
void extend(const StageCosts& costs, std::vector<StagePlan>& stages, std::int64_t left,
            std::optional<StrategyPlan>& best) {
  const auto open = costs.of_class().pp - std::ssize(stages);
  if (open == 0) {
    if (left > 0) return;
    StrategyPlan plan = compose_strategy(costs, stages);
    const bool better = !best || plan.step_ms < best->step_ms;
    if (better && fits(costs.table().instance(), plan)) best = std::move(plan);
    return;
  }
  for (std::int64_t layers = 1; layers <= left; ++layers) {
    if (!costs.may_have(std::ssize(stages), layers)) continue;
    for (const StageChoice& choice : costs.choices()) {
      stages.push_back({layers, choice});
      extend(costs, stages, left - layers, best);
      stages.pop_back();
    }
  }
}

}  // namespace

std::optional<StrategyPlan> brute_force(const StrategyInstance& instance) {
  const StrategyTable table(instance);
  std::optional<StrategyPlan> best;
  for (const StrategyClass& its : table.classes()) {
    for (const StrategyLayout& layout : table.layouts(its)) {
      std::vector<StagePlan> stages;
      extend(StageCosts(table, its, layout), stages, table.layers(), best);
    }
  }
  return best;
}

}  // namespace stowage
