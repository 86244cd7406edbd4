// Every assign heuristic.
#pragma once

#include <vector>

#include "heuristics/heuristic.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/assign/table.h"

namespace stowage {

// Has no plan where no strategy holds the longest sequence, where a method for one scheme meets
// only mixed strategies, or where its rows cannot be made to obey the row constraints. All choose
// the strategy, too.
using AssignHeuristic = Heuristic<AssignInstance, AssignTable, AssignPlan>;

// Published baselines first, then ours from quick to thorough; those of chunks for an instance that
// asks for chunks.
std::vector<AssignHeuristic> heuristics(const AssignInstance& instance);

}  // namespace stowage
