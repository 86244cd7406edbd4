// A cost that follows its devices: coefficients moved by the times of the steps of a training loop.
//
// Steps alone seldom show every coefficient, as their plans repeat the same kinds of groups. So all
// coefficients are first taken to have changed by the same factor, the median of measured over
// predicted, and each moves away from there as far as the times ask for it: a move by a quarter of
// its value counts as much as an error of one standard deviation (ridge regression). With many
// different steps this is a fit, with a few it is a factor.
#pragma once

#include <vector>

#include "instances/result.h"
#include "instances/scatter/fit/sample.h"

namespace stowage {

// Micro-batches one after another, each as long as its slowest group; a group measured by itself is
// one micro-batch of one group.
struct TimedStep {
  std::vector<std::vector<TimedRow>> micro_batches;  // `ms` of a row is not looked at
  Ms ms = 0;
};

struct Refit {
  ScatterCost cost;
  double factor = 1;          // measured over predicted by the old cost, the median
  bool drifted = false;       // the factor is further from 1 than the noise of the times explains
  double noise = 0;           // standard deviation of relative errors by the new cost
  double mean_error = 0;      // of the new cost, on these steps
  double old_mean_error = 0;  // of the old one
};

// `old` has the cost to begin with, and the structure. Errors as fit_cost(), at
// /measured/STEP/MEMBER; E362 without a step.
Result<Refit> refit_cost(const ScatterInstance& old, std::vector<TimedStep> measured);

}  // namespace stowage
