// Published planners as baselines: Galvatron's and Alpa's, on this format's times and memory.
//
//   const StrategyTable table(instance);
//   std::optional<StrategyPlan> plan = galvatron(table, budget);
//
// Both functions return plans that fit, without hash and bound, or nullopt if they find no plan.
// Times are in ms, memory is in MiB. Among equally fast plans the first in the order of classes and
// layouts is kept. The budget ends a search only after the first plan is found; the result is then
// the best plan so far.
//
// Thread safety: the functions read their arguments and nothing else.
#pragma once

#include <optional>

#include "instances/budget.h"
#include "instances/strategy/plan.h"
#include "instances/strategy/planning_table.h"

namespace stowage {

// Galvatron (arXiv 2211.13878, 2307.02031). The stages are fixed before planning: each stage has
// the same number of layers, and the last stage has the remainder as well. Each stage then takes
// the cheapest choice that fits its memory, counted in whole MiB. The step time is that of 1F1B.
// The published DP over memory mixes layouts and choices between the layers of a stage, and adds
// costs of resharding where they change. A plan of this format has one layout, and a stage has one
// choice. There are no changes within a stage, so the DP reduces to the cheapest choice that fits.
// Neither the paper nor this function uses interleaved stages.
std::optional<StrategyPlan> galvatron(const StrategyTable& table, const Budget& budget);

// Alpa (arXiv 2201.12023, section 5.2). A DP over stages and layers finds the least sum of all
// stages' times, for each time that the slowest stage may take, in ascending order. The search
// stops once the slowest stage alone makes the step longer than the best step. Stages fit the
// memory with the micro-batches that 1F1B has in flight. The paper's meshes may differ between
// stages; a plan of this format has one layout, so all layouts are tried. The paper's objective
// omits the exchange of model states; the layouts are compared by the step time that includes it.
std::optional<StrategyPlan> alpa(const StrategyTable& table, const Budget& budget);

}  // namespace stowage
