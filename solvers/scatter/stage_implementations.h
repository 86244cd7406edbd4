// The work of each stage of a scatter solve. stages.cc has their order. Not installed.
#pragma once

#include <optional>

#include "instances/budget.h"
#include "solvers/outcome.h"
#include "solvers/scatter/stage_context.h"

namespace stowage::scatter_stage {

// Returns why the whole solve ends, or nullopt to go on with the next stage.
using Ended = std::optional<StoppedBy>;

// Makes a plan of the best single degree.
Ended first_plan(ScatterContext& context, Budget& part);

// Runs the heuristic `fast`.
Ended multistart(ScatterContext& context, Budget& part);
Ended other_depths(ScatterContext& context, Budget& part);

// Runs the heuristic `joint`.
Ended long_multistart(ScatterContext& context, Budget& part);

// Runs the heuristic that the method names.
Ended method_heuristic(ScatterContext& context, Budget& part);

// Runs dives of low precision.
Ended quick_dive(ScatterContext& context, Budget& part);

// Searches a few boxes of makespans.
Ended quick_profile_bound(ScatterContext& context, Budget& part);

// Solves a few linear programmes of the step LP.
Ended quick_bound(ScatterContext& context, Budget& part);

// Proves the optimum of a step of few sequences by dynamic programming over subsets.
Ended subset_dp(ScatterContext& context, Budget& part);

// Solves the whole-step MILP without a start plan. Rules may leave so few plans that no heuristic
// finds one.
Ended first_milp(ScatterContext& context, Budget& part);

// Replans each micro-batch by patterns, then all together if there are few.
Ended pattern_dive(ScatterContext& context, Budget& part);

// Tries other numbers of micro-batches and other makespans.
Ended profile_search(ScatterContext& context, Budget& part);

// Runs the stronger of the two bound searches.
Ended best_bound(ScatterContext& context, Budget& part);

// Dives for the makespans where the bound is weakest.
Ended dive_at_bound(ScatterContext& context, Budget& part);

// Runs the weaker of the two bound searches.
Ended other_bound(ScatterContext& context, Budget& part);

// Solves the whole-step MILP if it is small enough.
Ended step_milp(ScatterContext& context, Budget& part);

// Runs one round of large-neighbourhood search: destroy and repair, annealing, or planning anew.
Ended lns(ScatterContext& context, Budget& part);

// Replans a few micro-batches of similar makespans.
Ended partial_reopt(ScatterContext& context, Budget& part);

// Continues each bound search that still rises.
Ended more_bounds(ScatterContext& context, Budget& part);

// Regroups each micro-batch by a MILP, with more nodes each time.
Ended regroup_milp(ScatterContext& context, Budget& part);

// Solve the step without mixed micro-batches, whose plans are plans of this step too: by `fast`, or
// by the method of this solve.
Ended unmixed_start(ScatterContext& context, Budget& part);
Ended unmixed(ScatterContext& context, Budget& part);

// Plans mixed micro-batches from the best plan and from starts of their own.
Ended mixed_starts(ScatterContext& context, Budget& part);

// Anneals mixed micro-batches from the best plan, each time from another temperature.
Ended mixed_annealing(ScatterContext& context, Budget& part);

// Runs the baseline of the published MILPs.
Ended flexsp_milps(ScatterContext& context, Budget& part);

// Groups FlexSP's chunks by our grouping.
Ended flexsp_grouping(ScatterContext& context, Budget& part);

}  // namespace stowage::scatter_stage
