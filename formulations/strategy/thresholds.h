// Bounds on the step of a class and layout by a case distinction: one case for each possible time
// of the slowest stage and each possible exposed exchange [SB4].
//
//   if (admits_thresholds(costs)) {
//     const Ms bound = threshold_bound(costs, best_known_ms, budget);
//   }
//
// The proof is in docs/theory/strategy.md.
//
// Thread safety: the functions only read their arguments.
#pragma once

#include "formulations/strategy/bounds.h"
#include "instances/budget.h"
#include "instances/strategy/certificate.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/planning_table.h"
#include "instances/units.h"

namespace stowage {

// Returns true if stages and ranges of layers are few enough to list. The checker uses the same
// condition.
bool admits_thresholds(const StageCosts& costs);

// Returns a bound on the step of all plans of this class and layout, at most `enough`. The bound is
// weaker if the budget ends the search. Requires admits_thresholds(costs).
Ms threshold_bound(const StageCosts& costs, Ms enough, const Budget& budget);

// Raises the bounds of the classes below `enough`: by SB4 if they admit it, otherwise by better
// prices [SB2]. Ends early with the budget.
void sharpen(const StrategyTable& table, StrategyCertificate& certificate, Ms enough,
             const Budget& budget, const PriceRounds& rounds = {});

}  // namespace stowage
