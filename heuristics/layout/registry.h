// List of all layout heuristics.
#pragma once

#include <vector>

#include "heuristics/heuristic.h"
#include "heuristics/layout/params.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/layout/planning_table.h"

namespace stowage {

// A heuristic returns no plan in four cases: pinned buffers clash, its peak would exceed the
// capacity, the stacked buffers would exceed kMaxExact, or the budget ends too early.
using LayoutHeuristic = Heuristic<LayoutInstance, LayoutTable, LayoutPlan>;

// Returns the published baselines, then stowage's own methods from quick to thorough.
std::vector<LayoutHeuristic> heuristics(const LayoutInstance& instance,
                                        const LayoutHeuristicParams& params = {});

}  // namespace stowage
