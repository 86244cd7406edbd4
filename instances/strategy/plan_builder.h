// Makes a strategy plan from a configuration: fills in the fields that follow from it.
#pragma once

#include <span>

#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan.h"

namespace stowage {

struct StagePlan {
  std::int64_t layers = 0;
  StageChoice choice;
};

// Returns the plan with the fewest logit chunks that fit, or with the most chunks if none fit.
// Requires stages that the class allows and that hold all layers. The caller sets the hash and the
// bound.
StrategyPlan compose_strategy(const StageCosts& costs, std::span<const StagePlan> stages);

// Returns whether all stages of the plan fit the device's memory.
bool fits(const StrategyInstance& instance, const StrategyPlan& plan);

}  // namespace stowage
