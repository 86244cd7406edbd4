// How well a time model explains measured group times.
//
// Two questions, asked separately. proportional_fit(): are the measured seconds proportional to
// what a plan predicts? shape_fit(): do they have the shape of the instance's time model, whatever
// its coefficients? Both minimise relative errors, so that short groups count as much as long ones.
//
//   ShapeFit fit = shape_fit(samples);
//   if (fit.available) print(fit.mean_error, fit.held_out_mean_error);
#pragma once

#include <vector>

namespace stowage::kernels {

// One group as it was executed on `ranks` ranks.
struct TimeSample {
  double measured_s = 0;    // > 0
  double predicted_ms = 0;  // by the plan
  // sum of s^2 over its sequences, times the share of the heads that the busiest rank owns. When
  // the ranks divide the heads this is sum s^2 / d, as in the instance's model.
  double quadratic = 0;
  double linear = 0;    // tokens of the busiest rank: sum s / d, rounded up
  double exchange = 0;  // the same where ranks > 1, and 0 on one rank, which exchanges nothing
};

// measured ~ seconds_per_ms * predicted.
struct ProportionalFit {
  bool available = false;  // needs two samples with a positive prediction
  double seconds_per_ms = 0;
  double mean_error = 0;  // mean and 95th percentile of |fitted - measured| / measured
  double p95_error = 0;
};

// measured ~ quadratic_s x.quadratic + linear_s x.linear + exchange_s x.exchange + fixed_s.
struct ShapeFit {
  bool available = false;  // needs two samples more than the model has independent terms
  int samples = 0;
  int terms = 0;  // independent ones: 4, or fewer when the groups cannot tell some apart
  double quadratic_s = 0, linear_s = 0, exchange_s = 0, fixed_s = 0;
  double mean_error = 0;  // on the samples that were fitted
  double p95_error = 0;
  // Each sample predicted by a fit of all the others: what the model is worth on a new group.
  double held_out_mean_error = 0;
  double held_out_p95_error = 0;
};

ProportionalFit proportional_fit(const std::vector<TimeSample>& samples);
ShapeFit shape_fit(const std::vector<TimeSample>& samples);

// The smallest value that at least 95 % of the errors do not exceed. Requires one.
double p95(std::vector<double> errors);

}  // namespace stowage::kernels
