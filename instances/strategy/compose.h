// From a configuration to a strategy plan: fills in what follows from it.
#pragma once

#include <span>

#include "instances/strategy/plan.h"
#include "instances/strategy/table.h"

namespace stowage {

struct StagePlan {
  std::int64_t layers = 0;
  StageChoice choice;
};

// The plan with the least number of logit chunks that fits, or with the most of them where none
// does. Requires stages that the class allows, with all layers among them. The hash and the bound
// are the caller's to set.
StrategyPlan compose_strategy(const StageCosts& costs, std::span<const StagePlan> stages);

// Whether all its stages fit the device's memory.
bool fits(const StrategyInstance& instance, const StrategyPlan& plan);

}  // namespace stowage
