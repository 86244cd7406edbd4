// Bounds on the step of a class and layout that know the slowest stage: one case for each time that
// it may take, and for each exchange that may be left [SB4].
//
//   if (admits_thresholds(costs)) {
//     const Ms bound = threshold_bound(costs, best_known_ms, budget);
//   }
//
// The proof is in formulations/README.md.
//
// Thread safety: its functions read their arguments and nothing else.
#pragma once

#include "formulations/strategy/bounds.h"
#include "instances/budget.h"
#include "instances/strategy/certificate.h"
#include "instances/strategy/table.h"
#include "instances/units.h"

namespace stowage {

// Whether stages and ranges of layers are few enough to be listed. The checker asks the same.
bool admits_thresholds(const StageCosts& costs);

// The step of no plan of this class and layout is less. At most `enough`; less than can be proven
// if the budget ends it. Requires admits_thresholds(costs).
Ms threshold_bound(const StageCosts& costs, Ms enough, const Budget& budget);

// SB4 for the classes whose bound is below `enough`, where they admit it, and better prices [SB2]
// for the others. Ends early with the budget.
void sharpen(const StrategyTable& table, StrategyCertificate& certificate, Ms enough,
             const Budget& budget);

}  // namespace stowage
