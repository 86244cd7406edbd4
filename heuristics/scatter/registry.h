// The list of all scatter heuristics.
#pragma once

#include <vector>

#include "heuristics/heuristic.h"
#include "heuristics/scatter/params.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

// A scatter heuristic. It returns no plan if, for example, the memory of a homogeneous degree is
// too small for the longest sequence. Requires an instance without unplaceable sequences.
using ScatterHeuristic = Heuristic<ScatterInstance, ScatterTable, ScatterPlan>;

// Returns the published baselines, then the methods of this library from quick to thorough. The
// homogeneous baselines have the degrees of the instance.
std::vector<ScatterHeuristic> heuristics(const ScatterInstance& instance,
                                         const MultistartParams& params = {});

}  // namespace stowage
