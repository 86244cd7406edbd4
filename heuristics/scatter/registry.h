// The list of all scatter heuristics.
#pragma once

#include <vector>

#include "heuristics/heuristic.h"
#include "heuristics/scatter/params.h"
#include "heuristics/scatter/working_plan.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

// A scatter heuristic. It returns no plan if, for example, the memory of a homogeneous degree is
// too small for the longest sequence. Requires an instance without unplaceable sequences.
using ScatterHeuristic = Heuristic<ScatterInstance, ScatterTable, ScatterPlan>;

// Returns the published baselines, then the methods of this library from quick to thorough. The
// homogeneous baselines have the degrees of the instance. If `others` is not null, `fast` and
// `joint` append the other steps of their races (JointEffort); it must outlive the list.
std::vector<ScatterHeuristic> heuristics(const ScatterInstance& instance,
                                         const MultistartParams& params = {},
                                         std::vector<WorkingStep>* others = nullptr);

}  // namespace stowage
