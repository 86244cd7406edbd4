// List of all strategy heuristics.
#pragma once

#include <vector>

#include "heuristics/heuristic.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "instances/strategy/planning_table.h"

namespace stowage {

// A heuristic returns no plan if it finds none that fits.
using StrategyHeuristic = Heuristic<StrategyInstance, StrategyTable, StrategyPlan>;

// Returns the published baselines, then stowage's own method.
std::vector<StrategyHeuristic> heuristics(const StrategyInstance& instance);

}  // namespace stowage
