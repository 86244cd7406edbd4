// Shell lines by which a launch script of Megatron-LM loads plans before training.
#pragma once

#include <string>

#include "instances/strategy/plan.h"

namespace stowage {

// Returns whether Megatron-LM can pack by plans: parameters are not sharded, and several ranks
// share a step.
bool takes_plans(const StrategyPlan& plan);

// Returns lines that set `script`, the words before the flags, and add arguments. With
// STOWAGE_PLANS=1 the Python package stowage plans every step for the cluster of the step file
// beside the script.
std::string lines_for_plans(Tokens tokens_of_rank);

}  // namespace stowage
