// What each stage of a scatter solve does; stages.cc has the order in which they run.
// Not installed.
#pragma once

#include <optional>

#include "instances/budget.h"
#include "solvers/outcome.h"
#include "solvers/scatter/context.h"

namespace stowage::scatter_stage {

// Returns why the whole solve ends, or nullopt to go on with the next stage.
using Ended = std::optional<StoppedBy>;

// A plan of the best single degree.
Ended first_plan(ScatterContext& context, Budget& part);

// The heuristic `fast`.
Ended multistart(ScatterContext& context, Budget& part);

// The heuristic `joint`.
Ended long_multistart(ScatterContext& context, Budget& part);

// The heuristic that the method names.
Ended method_heuristic(ScatterContext& context, Budget& part);

// Dives of low precision.
Ended quick_dive(ScatterContext& context, Budget& part);

// A few boxes of the search over makespans.
Ended quick_profile_bound(ScatterContext& context, Budget& part);

// A few linear programmes of the step LP.
Ended quick_bound(ScatterContext& context, Budget& part);

// Proves an optimum where sequences are few enough for everything to be tried.
Ended subset_dp(ScatterContext& context, Budget& part);

// The whole-step MILP without a plan to begin with: rules may leave so few plans that no heuristic
// finds one.
Ended first_milp(ScatterContext& context, Budget& part);

// Each micro-batch planned anew by patterns, then, if they are few, all together.
Ended pattern_dive(ScatterContext& context, Budget& part);

// All micro-batches in other numbers and makespans.
Ended profile_search(ScatterContext& context, Budget& part);

// The stronger of the two bound searches.
Ended best_bound(ScatterContext& context, Budget& part);

// A dive for the makespans where the bound is weakest.
Ended dive_at_bound(ScatterContext& context, Budget& part);

// The other one of the two bound searches.
Ended other_bound(ScatterContext& context, Budget& part);

// The whole-step MILP, where it is small enough.
Ended step_milp(ScatterContext& context, Budget& part);

// One round of destroying and repairing micro-batches, annealing or planning anew.
Ended lns(ScatterContext& context, Budget& part);

// A few micro-batches of like makespans planned anew.
Ended partial_reopt(ScatterContext& context, Budget& part);

// More of each bound search that still rises.
Ended more_bounds(ScatterContext& context, Budget& part);

// A MILP of each micro-batch, with more nodes each time.
Ended regroup_milp(ScatterContext& context, Budget& part);

// The baseline of the published MILPs.
Ended flexsp_milps(ScatterContext& context, Budget& part);

// FlexSP's chunks with our grouping.
Ended flexsp_grouping(ScatterContext& context, Budget& part);

}  // namespace stowage::scatter_stage
