// Refits a cost to its devices: moves coefficients by the times of the steps of a training loop.
//
// Steps alone seldom show every coefficient, as their plans repeat the same kinds of groups. So all
// coefficients are first assumed to have changed by one factor, the median of measured over
// predicted time. From there each coefficient moves as far as the times require: a move by a
// quarter of its value weighs as much as an error of one standard deviation (ridge regression).
// With many different steps this is a fit, with a few it is a factor.
#pragma once

#include <vector>

#include "instances/result.h"
#include "instances/scatter/fit/sample.h"

namespace stowage {

// Micro-batches one after another, each as long as its slowest group. A group that is measured
// alone is one micro-batch of one group.
struct TimedStep {
  std::vector<std::vector<TimedRow>> micro_batches;  // `ms` of a row is ignored
  Ms ms = 0;
};

struct Refit {
  ScatterCost cost;
  double factor = 1;  // median of measured over predicted time, by the old cost
  // The noise of the times does not explain the factor's distance from 1.
  bool drifted = false;
  double noise = 0;           // standard deviation of relative errors by the new cost
  double mean_error = 0;      // of the new cost, on these steps
  double old_mean_error = 0;  // of the old cost
};

// Returns the new cost. `old` has the initial cost and the structure. Errors are those of
// fit_cost(), at /measured/STEP/MEMBER; E362 without a step.
Result<Refit> refit_cost(const ScatterInstance& old, std::vector<TimedStep> measured);

}  // namespace stowage
