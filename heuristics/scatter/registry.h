// Every scatter heuristic.
#pragma once

#include <vector>

#include "heuristics/heuristic.h"
#include "heuristics/scatter/params.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/scatter/table.h"

namespace stowage {

// Has no plan e.g. where the memory of a homogeneous degree is too small for the longest sequence.
// Requires an instance without unplaceable sequences.
using ScatterHeuristic = Heuristic<ScatterInstance, ScatterTable, ScatterPlan>;

// Published baselines first, then ours from quick to thorough. Homogeneous degrees are those of
// the instance.
std::vector<ScatterHeuristic> heuristics(const ScatterInstance& instance,
                                         const MultistartParams& params = {});

}  // namespace stowage
