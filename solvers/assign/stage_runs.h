// The functions that the stages of an assign solve run. stages.cc has the order of the stages. Not
// installed.
#pragma once

#include <optional>

#include "instances/budget.h"
#include "solvers/assign/context.h"
#include "solvers/outcome.h"

namespace stowage::assign_stage {

// A stage returns why the whole solve ends, or nullopt to go on with the next stage.
using Ended = std::optional<StoppedBy>;

// Makes a plan of every strategy, quickly.
Ended first_plan(AssignContext& context, Budget& budget);

// Proves an optimum, or that there is no plan, where sequences are few.
Ended subsets(AssignContext& context, Budget& budget);

// Makes better plans of the strategies within reach of the best plan.
Ended multistart(AssignContext& context, Budget& budget);

// Raises the bound by row patterns, made by column generation.
Ended pattern_bound_stage(AssignContext& context, Budget& budget);

// Raises the bound by prices of length bands.
Ended band_bound_stage(AssignContext& context, Budget& budget);

// Raises the bound, or finds a plan, by a tree search over the shares of the replicas.
Ended completion(AssignContext& context, Budget& budget);

// Raises the bound by configurations of rows, made by column generation.
Ended configuration_bound_stage(AssignContext& context, Budget& budget);

// Raises the bound by row patterns in more detail.
Ended fine_pattern_bound(AssignContext& context, Budget& budget);

// Does the same as multistart with more ruins.
Ended long_multistart(AssignContext& context, Budget& budget);

// Raises the bound by a MILP over groups of like sequences.
Ended grouped_bound_stage(AssignContext& context, Budget& budget);

// Solves the MILP of each strategy that is small enough.
Ended strategy_milps(AssignContext& context, Budget& budget);

// Ruins and recreates until a limit or a proof.
Ended lns(AssignContext& context, Budget& budget);

// Runs the heuristic that the method names.
Ended method_heuristic(AssignContext& context, Budget& budget);

// Does the same as subsets for very few sequences.
Ended quick_subsets(AssignContext& context, Budget& budget);

// Does the same as pattern_bound_stage in the time of `fast`.
Ended quick_pattern_bound(AssignContext& context, Budget& budget);

// Does the same as band_bound_stage in the time of `fast`.
Ended quick_band_bound(AssignContext& context, Budget& budget);

// Does the same as completion in the time of `fast`.
Ended quick_completion(AssignContext& context, Budget& budget);

// Does the same as configuration_bound_stage in the time of `fast`.
Ended quick_configuration_bound(AssignContext& context, Budget& budget);

// Does the same as fine_pattern_bound in the time of `fast`.
Ended quick_fine_pattern_bound(AssignContext& context, Budget& budget);

// Does the same as subsets with a limit of work.
Ended late_subsets(AssignContext& context, Budget& budget);

// Runs the baseline with its ILPs and the published score.
Ended hydraulis_published(AssignContext& context, Budget& budget);

// Runs the baseline with its ILPs, chosen by the modelled time.
Ended hydraulis_modelled(AssignContext& context, Budget& budget);

// Makes a plan that takes no time, so that a method that a limit cuts off is no worse than that.
Ended plan_at_once(AssignContext& context, Budget& budget);

}  // namespace stowage::assign_stage
