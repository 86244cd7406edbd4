// Every layout heuristic.
#pragma once

#include <vector>

#include "heuristics/heuristic.h"
#include "heuristics/layout/params.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/layout/table.h"

namespace stowage {

// Has no plan where pinned buffers clash, its peak would exceed the capacity of the instance, all
// buffers on a stack would exceed kMaxExact, or the budget ended too early.
using LayoutHeuristic = Heuristic<LayoutInstance, LayoutTable, LayoutPlan>;

// Published baselines first, then ours from quick to thorough.
std::vector<LayoutHeuristic> heuristics(const LayoutInstance& instance,
                                        const LayoutHeuristicParams& params = {});

}  // namespace stowage
