// Published planners as baselines: Galvatron's and Alpa's, on this format's times and memory.
//
//   const StrategyTable table(instance);
//   std::optional<StrategyPlan> plan = galvatron(table, budget);
//
// Both return plans that fit, without hash and bound, or nothing where they find none. Times are in
// ms, memory is in MiB. Of equal plans the first in the order of classes and layouts is kept. What
// the budget ends is the best so far, once there is one.
//
// Thread safety: its functions read their arguments and nothing else.
#pragma once

#include <optional>

#include "instances/budget.h"
#include "instances/strategy/plan.h"
#include "instances/strategy/table.h"

namespace stowage {

// Galvatron (arXiv 2211.13878, 2307.02031). The stages are fixed before anything is planned: as
// many layers in each, what does not divide in the last one. Each stage then takes the cheapest
// choice for its part of the memory, which is counted in whole MiB; the step is that of 1F1B. Its
// DP over memory mixes layouts and choices from layer to layer of a stage and pays for resharding
// where they change. A plan of this format has one layout, and a stage one choice, so that changes
// do not occur and the DP comes down to the least of the choices that fit. It has no interleaved
// stages, and neither has this.
std::optional<StrategyPlan> galvatron(const StrategyTable& table, const Budget& budget);

// Alpa (arXiv 2201.12023, section 5.2). For each time that the slowest stage may take, from the
// least on, a DP over stages and layers finds the least sum of all stages' times; it stops where
// the slowest stage alone makes the step longer than the best one. Stages fit the memory with the
// micro-batches that 1F1B has in flight. Its meshes may differ from stage to stage; a plan of this
// format has one layout, so all of them are tried. Its objective has no exchange of states; among
// the layouts the step with it decides.
std::optional<StrategyPlan> alpa(const StrategyTable& table, const Budget& budget);

}  // namespace stowage
