// Measures how well a time model explains measured group times.
//
// proportional_fit() tests whether the measured seconds are proportional to the plan's predictions.
// shape_fit() tests whether they follow the instance's time model with free coefficients. Both
// minimise relative errors, so that short groups weigh as much as long ones.
//
//   ShapeFit fit = shape_fit(samples);
//   if (fit.available) print(fit.mean_error, fit.held_out_mean_error);
#pragma once

#include <vector>

namespace stowage::kernels {

// One group as executed on `ranks` ranks.
struct TimeSample {
  double measured_s = 0;    // > 0
  double predicted_ms = 0;  // prediction of the plan
  // The sum of s^2 over its sequences, times the busiest rank's share of the heads. If the number
  // of ranks divides the heads, this is sum s^2 / d, as in the instance's model.
  double quadratic = 0;
  double linear = 0;  // tokens of the busiest rank: sum s / d, rounded up
  // equal to `linear` if ranks > 1, and 0 on one rank, which exchanges nothing
  double exchange = 0;
};

// measured ~ seconds_per_ms * predicted.
struct ProportionalFit {
  bool available = false;  // false for fewer than two samples with a positive prediction
  double seconds_per_ms = 0;
  double mean_error = 0;  // mean and 95th percentile of |fitted - measured| / measured
  double p95_error = 0;
};

// measured ~ quadratic_s x.quadratic + linear_s x.linear + exchange_s x.exchange + fixed_s.
struct ShapeFit {
  // false if the samples do not exceed the model's independent terms by two
  bool available = false;
  int samples = 0;
  // number of independent terms: 4, or fewer if the groups cannot separate some of them
  int terms = 0;
  double quadratic_s = 0, linear_s = 0, exchange_s = 0, fixed_s = 0;
  double mean_error = 0;  // error on the fitted samples
  double p95_error = 0;
  // Error of each sample under a fit of all other samples, an estimate for a new group.
  double held_out_mean_error = 0;
  double held_out_p95_error = 0;
};

ProportionalFit proportional_fit(const std::vector<TimeSample>& samples);
ShapeFit shape_fit(const std::vector<TimeSample>& samples);

// Returns the smallest value that at least 95 % of the errors do not exceed. Requires at least one
// error.
double p95(std::vector<double> errors);

}  // namespace stowage::kernels
