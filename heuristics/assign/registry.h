// The list of all assign heuristics.
#pragma once

#include <vector>

#include "heuristics/assign/params.h"
#include "heuristics/heuristic.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/assign/planning_table.h"

namespace stowage {

// A heuristic returns no plan in three cases: no strategy admits the longest sequence, a method for
// one scheme meets only mixed strategies, or its rows cannot satisfy the row constraints. Each
// heuristic also chooses the strategy.
using AssignHeuristic = Heuristic<AssignInstance, AssignTable, AssignPlan>;

// Returns the published baselines, then stowage's own methods from quick to thorough. If the
// instance has a ChunkRule, these are the heuristics for chunks.
std::vector<AssignHeuristic> heuristics(const AssignInstance& instance,
                                        const AssignPlanParams& params = {});

}  // namespace stowage
