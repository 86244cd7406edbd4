// All work of a step spread over its replicas at the best prices of their schemes: the inner part
// of the bounds AB4 and CB2 (formulations/README.md).
#pragma once

#include <vector>

#include "instances/assign/instance.h"
#include "instances/budget.h"

namespace stowage {

// Sequences that cost the same.
struct PricedKind {
  double count = 0;
  std::vector<double> weight;  // of one, in each group; infinite where it does not fit
};

// The replicas of one scheme.
struct PricedGroup {
  const Scheme* scheme = nullptr;
  int count = 0;
};

// The least time, in ms, in which prices exist for no split of the work: of the prices tried, the
// one that proves most. A replica without stages offers its time; with several, the most work in
// any number of rows up to `most_rows`. Every kind must fit some group. A budget that is exhausted
// ends it after the first prices.
Ms priced_work(const std::vector<PricedKind>& kinds, const std::vector<PricedGroup>& groups,
               int most_rows, const Budget& budget = Budget());

}  // namespace stowage
