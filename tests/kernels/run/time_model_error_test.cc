#include "kernels/run/timing/time_model_error.h"

#include <gtest/gtest.h>

namespace stowage::kernels::run_time_fit_test {
namespace {

// Groups of degrees 1, 2 and 4 that obey the model exactly, but for `noise` on every other one.
std::vector<TimeSample> samples(double noise) {
  std::vector<TimeSample> all;
  for (int i = 1; i <= 12; ++i) {
    const int ranks = 1 << (i % 3);
    TimeSample s{.quadratic = 1000.0 * i * i / ranks, .linear = 70.0 * (i % 5 + 1)};
    s.exchange = ranks > 1 ? s.linear : 0;
    s.measured_s = 2e-6 * s.quadratic + 3e-5 * s.linear + 1e-5 * s.exchange + 0.004;
    s.predicted_ms = 500 * s.measured_s;
    s.measured_s *= i % 2 == 0 ? 1 + noise : 1;
    all.push_back(s);
  }
  return all;
}

TEST(ShapeFit, FindsTheCoefficientsOfExactData) {
  const ShapeFit fit = shape_fit(samples(0));
  ASSERT_TRUE(fit.available);
  EXPECT_EQ(fit.terms, 4);
  EXPECT_NEAR(fit.quadratic_s, 2e-6, 1e-12);
  EXPECT_NEAR(fit.linear_s, 3e-5, 1e-11);
  EXPECT_NEAR(fit.exchange_s, 1e-5, 1e-11);
  EXPECT_NEAR(fit.fixed_s, 0.004, 1e-9);
  EXPECT_LT(fit.held_out_p95_error, 1e-8);
}

TEST(ShapeFit, NoiseShowsInTheErrorsAndMoreSoHeldOut) {
  const ShapeFit fit = shape_fit(samples(0.1));
  ASSERT_TRUE(fit.available);
  EXPECT_GT(fit.mean_error, 0.01);
  EXPECT_LT(fit.mean_error, 0.1);
  EXPECT_GT(fit.held_out_mean_error, fit.mean_error);
  EXPECT_GE(fit.p95_error, fit.mean_error);
}

TEST(ShapeFit, HeldOutErrorIsWhatAFitWithoutTheSampleGives) {
  // Two terms left: quadratic and fixed. Leave sample 0 out by hand and compare.
  std::vector<TimeSample> all;
  for (const double q : {1.0, 2.0, 4.0, 7.0}) all.push_back({.measured_s = 1 + q, .quadratic = q});
  all[0].measured_s = 3;
  const std::vector<TimeSample> others(all.begin() + 1, all.end());
  // The others lie exactly on 1 + q, so sample 0 is predicted as 2 instead of 3.
  EXPECT_EQ(shape_fit(others).available, false);  // three samples, two terms: not enough
  const ShapeFit fit = shape_fit(all);
  ASSERT_TRUE(fit.available);
  EXPECT_EQ(fit.terms, 2);
  EXPECT_NEAR(fit.held_out_p95_error, 1.0 / 3, 1e-9);
}

TEST(ShapeFit, TooFewSamplesAreNotAFit) {
  EXPECT_FALSE(shape_fit({}).available);
  std::vector<TimeSample> few = samples(0);
  few.resize(5);
  EXPECT_FALSE(shape_fit(few).available);
}

TEST(ProportionalFit, FindsTheFactorAndTheSpread) {
  const ProportionalFit exact = proportional_fit(samples(0));
  ASSERT_TRUE(exact.available);
  EXPECT_NEAR(exact.seconds_per_ms, 1.0 / 500, 1e-12);
  EXPECT_LT(exact.p95_error, 1e-12);
  const ProportionalFit noisy = proportional_fit(samples(0.2));
  EXPECT_NEAR(noisy.mean_error, 0.09, 0.02);
  EXPECT_FALSE(proportional_fit({{.measured_s = 1, .predicted_ms = 1}}).available);
  EXPECT_FALSE(proportional_fit({{.measured_s = 1}, {.measured_s = 2}}).available);
}

}  // namespace
}  // namespace stowage::kernels::run_time_fit_test
