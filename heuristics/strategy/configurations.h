// Configurations of a strategy instance: by rule of thumb, with equal stages, and with stages of
// their own.
//
//   const StrategyTable table(instance);
//   std::optional<StrategyPlan> plan = best_homogeneous(table, budget);
//
// All return plans that fit, without hash and bound, or nothing where they find none. Of equal
// plans the first in the order of classes, layouts and choices is kept. What the budget ends is the
// best so far, once there is one.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/strategy/plan.h"
#include "instances/strategy/table.h"

namespace stowage {

// The least pp, then cp, then tp, then ep that fits, with equal stages, the ZeRO level 1 (or the
// least there is), one chunk, and as many micro-batches as there can be; without full recomputation
// where something fits without.
std::optional<StrategyPlan> rule_of_thumb(const StrategyTable& table, const Budget& budget);

// The fastest of all configurations whose stages are alike in layers and choices.
std::optional<StrategyPlan> best_homogeneous(const StrategyTable& table, const Budget& budget);

// Of the configurations whose stages are alike the fastest of each number of stages and chunks, tp,
// ZeRO level, recomputation and ep: those that differ in how sequences are dealt to devices alone,
// by micro-batches, cp and dp, are one. At most `most`, the fastest first; fewer if the budget ends
// it.
std::vector<StrategyPlan> fastest_homogeneous(const StrategyTable& table, std::size_t most,
                                              const Budget& budget);

// The fastest of those, and of configurations with stages of their own for each class and layout:
// the one with the least area, which is the mean of the stages' times; those with the least steady
// state (threshold_split.h) with the quickest choice of each stage, and with each choice in all
// stages alike. `best` is a plan to begin with.
std::optional<StrategyPlan> best_uneven(const StrategyTable& table,
                                        std::optional<StrategyPlan> best, const Budget& budget);

// The fastest of best_homogeneous(), galvatron() and best_uneven(). It is no slower than alpa(),
// whose stages best_uneven() tries as well.
std::optional<StrategyPlan> best_of_all(const StrategyTable& table, const Budget& budget);

}  // namespace stowage
