// The work of a step spread over its replicas at the best prices of their schemes: the inner part
// of the bounds AB4 and CB2 (docs/theory/assign.md).
#pragma once

#include <vector>

#include "instances/assign/instance.h"
#include "instances/budget.h"

namespace stowage {

// Sequences of equal cost.
struct PricedKind {
  double count = 0;
  std::vector<double> weight;  // of one sequence, in each group; infinite if it does not fit
};

// The replicas of one scheme.
struct PricedGroup {
  const Scheme* scheme = nullptr;
  int count = 0;
};

// Returns a lower bound in ms: the least time that the best prices tried do not refute. A replica
// of one stage offers its time. A replica of several stages offers its largest work over all row
// numbers up to `most_rows`. Every kind must fit some group. If the budget is exhausted, the search
// ends after the first prices.
Ms priced_work(const std::vector<PricedKind>& kinds, const std::vector<PricedGroup>& groups,
               int most_rows, const Budget& budget = Budget());

}  // namespace stowage
