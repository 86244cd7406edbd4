// The list of all assign heuristics.
#pragma once

#include <vector>

#include "heuristics/heuristic.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/assign/table.h"

namespace stowage {

// An assign heuristic, which also chooses the strategy. It returns no plan in three cases: no
// strategy holds the longest sequence, the method plans one scheme and all strategies are mixed, or
// its rows cannot keep the row constraints.
using AssignHeuristic = Heuristic<AssignInstance, AssignTable, AssignPlan>;

// Returns the published baselines, then our methods from quick to thorough. Returns the methods for
// chunks if the instance has a ChunkRule.
std::vector<AssignHeuristic> heuristics(const AssignInstance& instance);

}  // namespace stowage
