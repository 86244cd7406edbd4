// Heuristics that choose a configuration of a strategy instance: by a rule of thumb, with equal
// stages, and with unequal stages.
//
//   const StrategyTable table(instance);
//   std::optional<StrategyPlan> plan = best_homogeneous(table, budget);
//
// Each function returns plans that fit, without hash and bound, or nullopt if it finds no plan.
// Among equally fast plans the first in the order of classes, layouts and choices is kept. The
// budget ends a search only after the first plan is found; the result is then the best plan so far.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/strategy/plan.h"
#include "instances/strategy/planning_table.h"

namespace stowage {

// Returns the first plan that fits in ascending order of pp, then cp, tp and ep. The plan has equal
// stages, ZeRO level 1 (or the lowest level allowed), one chunk, and as many micro-batches as
// possible. Plans with full recomputation are tried only if nothing fits without.
std::optional<StrategyPlan> rule_of_thumb(const StrategyTable& table, const Budget& budget);

// Returns the fastest configuration whose stages have equal layers and choices.
std::optional<StrategyPlan> best_homogeneous(const StrategyTable& table, const Budget& budget);

// Returns the fastest homogeneous configuration for each combination of pp, chunks, tp, ZeRO level,
// recomputation and ep, the fastest first, at most `most` of them. Configurations that differ only
// in micro-batches, cp and dp count as one, because they differ only in the assignment of sequences
// to devices. Returns fewer if the budget ends the search.
std::vector<StrategyPlan> fastest_homogeneous(const StrategyTable& table, std::size_t most,
                                              const Budget& budget);

// Returns the fastest of `best` and of plans with unequal stages for each class and layout. One
// plan has the least area, which is the mean of the stages' times. The others have the least steady
// state (threshold_split.h): one with the quickest choice per stage, and one with each choice in
// all stages. `best` is a known plan or nullopt.
std::optional<StrategyPlan> best_uneven(const StrategyTable& table,
                                        std::optional<StrategyPlan> best, const Budget& budget);

// Returns the fastest plan of best_homogeneous(), galvatron() and best_uneven(). The plan is no
// slower than the plan of alpa(), because best_uneven() tries its stages as well.
std::optional<StrategyPlan> best_of_all(const StrategyTable& table, const Budget& budget);

}  // namespace stowage
