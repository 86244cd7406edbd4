// Every strategy heuristic.
#pragma once

#include <vector>

#include "heuristics/heuristic.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "instances/strategy/table.h"

namespace stowage {

// Has no plan where it finds none that fits.
using StrategyHeuristic = Heuristic<StrategyInstance, StrategyTable, StrategyPlan>;

// Baselines first, then ours.
std::vector<StrategyHeuristic> heuristics(const StrategyInstance& instance);

}  // namespace stowage
