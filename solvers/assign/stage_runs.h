// What each stage of an assign solve does; stages.cc has the order in which they run. Not
// installed.
#pragma once

#include <optional>

#include "instances/budget.h"
#include "solvers/assign/context.h"
#include "solvers/outcome.h"

namespace stowage::assign_stage {

// Gaps above which `fast` raises bounds that take longer than its plan, and above which `auto`
// searches on after its bounds.
inline constexpr double kWideGap = 0.02;
inline constexpr double kWorthPatience = 1e-3;

// Returns why the whole solve ends, or nullopt to go on with the next stage.
using Ended = std::optional<StoppedBy>;

// A plan of every strategy, quickly.
Ended first_plan(AssignContext& context, Budget& budget);

// Proves an optimum, or that there is no plan, where sequences are few.
Ended subsets(AssignContext& context, Budget& budget);

// Better plans of the strategies within reach.
Ended multistart(AssignContext& context, Budget& budget);

// Row patterns by column generation.
Ended pattern_bound_stage(AssignContext& context, Budget& budget);

// Prices of length bands.
Ended band_bound_stage(AssignContext& context, Budget& budget);

// A tree search over shares of the replicas.
Ended completion(AssignContext& context, Budget& budget);

// Configurations of rows by column generation.
Ended configuration_bound_stage(AssignContext& context, Budget& budget);

// Row patterns in more detail.
Ended fine_pattern_bound(AssignContext& context, Budget& budget);

// The same as multistart with more ruins.
Ended long_multistart(AssignContext& context, Budget& budget);

// A MILP over groups of like sequences.
Ended grouped_bound_stage(AssignContext& context, Budget& budget);

// The MILP of each strategy that is small enough.
Ended strategy_milps(AssignContext& context, Budget& budget);

// Ruins and recreates until a limit or a proof.
Ended lns(AssignContext& context, Budget& budget);

// The heuristic that the method names.
Ended method_heuristic(AssignContext& context, Budget& budget);

// As subsets, where sequences are very few.
Ended quick_subsets(AssignContext& context, Budget& budget);

// As pattern_bound_stage, as far as `fast` has time.
Ended quick_pattern_bound(AssignContext& context, Budget& budget);

// As band_bound_stage, as far as `fast` has time.
Ended quick_band_bound(AssignContext& context, Budget& budget);

// As completion, as far as `fast` has time.
Ended quick_completion(AssignContext& context, Budget& budget);

// As configuration_bound_stage, as far as `fast` has time.
Ended quick_configuration_bound(AssignContext& context, Budget& budget);

// As fine_pattern_bound, as far as `fast` has time.
Ended quick_fine_pattern_bound(AssignContext& context, Budget& budget);

// As subsets, with some milliseconds of work at most.
Ended late_subsets(AssignContext& context, Budget& budget);

// The baseline's ILPs and published score.
Ended hydraulis_published(AssignContext& context, Budget& budget);

// The baseline's ILPs, chosen by the modelled time.
Ended hydraulis_modelled(AssignContext& context, Budget& budget);

// A plan without any time: a limit that cuts a method must not leave a worse one.
Ended plan_at_once(AssignContext& context, Budget& budget);

}  // namespace stowage::assign_stage
