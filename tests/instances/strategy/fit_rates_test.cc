// Rates fitted to steps whose rates are known.
#include "instances/strategy/fit/fit_rates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace stowage::strategy_fit_rates_test {
namespace {

constexpr std::int64_t kNodeSize = 8;

// Returns configurations of one job on `nodes` nodes, with the times by the `real` rates.
std::vector<StrategySample> samples_of(const StrategyInstance& assumed,
                                       const StrategyInstance& real) {
  std::vector<StrategySample> samples;
  const std::int64_t devices = assumed.cluster.devices();
  for (const Tokens length : {1024, 4096, 16384}) {
    for (const std::int64_t tp : {1, 2, 8}) {
      for (const std::int64_t pp : {1, 2, 4}) {
        for (const std::int64_t of_row : {1, 4}) {
          const std::int64_t dp = devices / tp / pp;
          if (dp == 0) continue;
          StrategySample sample{.instance = assumed,
                                .configuration = {.its = {.pp = pp, .micro_batches = 8},
                                                  .layout = {.tp = tp, .dp = dp},
                                                  .choice = {.zero = 1}}};
          sample.instance.lengths.assign(static_cast<std::size_t>(8 * of_row * dp), length);
          StrategyInstance own = real;
          own.lengths = sample.instance.lengths;
          sample.step_ms = price_configuration(own, sample.configuration).step_ms;
          samples.push_back(std::move(sample));
        }
      }
    }
  }
  return samples;
}

StrategyInstance job(std::int64_t nodes) {
  return {.model = {.hidden = 2048,
                    .heads = 16,
                    .vocabulary = 32000,
                    .blocks = {{.count = 16, .ffn = 8192}}},
          .cluster = {.nodes = nodes, .devices_per_node = kNodeSize, .memory_mib = 1e6},
          .cost = {.half_width = 0, .detail = StrategyDetail{}}};
}

const FittedRate& rate_named(const std::vector<FittedRate>& rates, std::string_view name) {
  return *std::ranges::find(rates, name, &FittedRate::name);
}

TEST(FitRates, FindsRatesThatTheSamplesDependOn) {
  const StrategyInstance assumed = job(2);
  StrategyInstance real = assumed;
  real.cost.linear_tflops *= 0.7;
  real.cost.attention_tflops *= 1.6;
  real.cost.detail->pass_bytes *= 2;
  real.cost.detail->pass_ms *= 3;
  std::vector<StrategySample> samples = samples_of(assumed, real);
  // A wider model: products grow with the square of the width, work between them with the width.
  StrategyInstance wide = assumed;
  wide.model.hidden = 8192;
  wide.model.heads = 64;
  StrategyInstance really = real;
  really.model = wide.model;
  const std::vector<StrategySample> more = samples_of(wide, really);
  samples.insert(samples.end(), more.begin(), more.end());
  const std::vector<FittedRate> rates = fit_rates(samples);
  ASSERT_EQ(rates.size(), 11U);
  for (const auto& [name, factor] : {std::pair{"linear_tflops", 0.7},
                                     {"attention_tflops", 1.6},
                                     {"pass_bytes", 2.0},
                                     {"pass_ms", 3.0}}) {
    const FittedRate& rate = rate_named(rates, name);
    EXPECT_NEAR(rate.factor, factor, 0.05 * factor) << name;
    EXPECT_TRUE(rate.determined) << name;
    EXPECT_LE(rate.low, rate.factor);
    EXPECT_GE(rate.high, rate.factor);
  }
  for (const StrategySample& sample : samples) {
    const StrategyInstance fitted = with_rates(sample.instance, rates);
    EXPECT_NEAR(price_configuration(fitted, sample.configuration).step_ms, sample.step_ms,
                0.01 * sample.step_ms);
  }
}

// A dense model with FlashAttention on one node has no experts, no stored square and no link to
// other nodes.
TEST(FitRates, MarksRatesThatNoSampleDependsOn) {
  const StrategyInstance assumed = job(1);
  StrategyInstance real = assumed;
  real.cost.linear_tflops *= 0.8;
  const std::vector<FittedRate> rates = fit_rates(samples_of(assumed, real));
  for (const char* name : {"across", "square_bytes", "expert_slowdown"}) {
    EXPECT_NEAR(rate_named(rates, name).factor, 1, 1e-9) << name;
    EXPECT_FALSE(rate_named(rates, name).determined) << name;
  }
  EXPECT_NEAR(rate_named(rates, "linear_tflops").factor, 0.8, 0.02);
}

TEST(FitRates, WithoutSamplesNothingChanges) {
  const std::vector<FittedRate> rates = fit_rates({});
  for (const FittedRate& rate : rates) {
    EXPECT_EQ(rate.factor, 1);
    EXPECT_FALSE(rate.determined);
  }
  EXPECT_EQ(with_rates(job(1), rates), job(1));
}

// Seven runs that all take a tenth longer: nothing tells one rate from another, and the tenth is
// told.
TEST(FitRates, RunsThatAreOffByOneFactorDetermineIt) {
  const StrategyInstance assumed = job(2);
  std::vector<StrategySample> all = samples_of(assumed, assumed);
  std::vector<StrategySample> seven;
  for (std::size_t i = 0; i < 7; ++i) {
    seven.push_back(all[7 * i]);
    seven.back().step_ms *= 1.1;
  }
  const DeterminedRates fit = fit_determined_rates(seven);
  ASSERT_TRUE(fit.common);
  EXPECT_NEAR(fit.common->factor, 1.1, 1e-3);
  EXPECT_GT(fit.common->low, 1.08);
  EXPECT_LT(fit.common->high, 1.12);
  EXPECT_LT(fit.common->low, fit.common->factor);
  ASSERT_EQ(fit.rates.size(), 11U);
  for (const FittedRate& rate : fit.rates) EXPECT_FALSE(rate.determined) << rate.name;
  EXPECT_NEAR(rate_named(fit.rates, "linear_tflops").factor, 1 / 1.1, 1e-3);
  EXPECT_NEAR(rate_named(fit.rates, "pass_ms").factor, 1.1, 1e-3);
  for (StrategySample& sample : all) {  // also of runs that were not logged
    const StrategyInstance fitted = with_rates(sample.instance, fit.rates);
    EXPECT_NEAR(price_configuration(fitted, sample.configuration).step_ms, 1.1 * sample.step_ms,
                0.005 * sample.step_ms);
  }
  ASSERT_TRUE(fit.held_out);
  EXPECT_LT(fit.held_out->worst, 0.005);
}

TEST(FitRates, ANoisyFactorHasAWiderInterval) {
  const StrategyInstance assumed = job(2);
  std::vector<StrategySample> all = samples_of(assumed, assumed);
  std::vector<StrategySample> some;
  const double noise[] = {1.05, 0.95, 1.04, 0.97, 1.06, 0.96, 0.98};
  for (std::size_t i = 0; i < 7; ++i) {
    some.push_back(all[0]);  // one configuration, which determines no rate by itself
    some.back().step_ms *= 1.3 * noise[i];
  }
  const DeterminedRates fit = fit_determined_rates(some);
  ASSERT_TRUE(fit.common);
  EXPECT_NEAR(fit.common->factor, 1.3, 0.02);
  EXPECT_GT(fit.common->high / fit.common->low, 1.04);
  EXPECT_LT(fit.common->high / fit.common->low, 1.2);
}

// Rates that differ are fitted each, as before.
TEST(FitRates, RatesThatDifferAreNoCommonFactor) {
  const StrategyInstance assumed = job(2);
  StrategyInstance real = assumed;
  real.cost.linear_tflops *= 0.7;
  real.cost.attention_tflops *= 1.6;
  const DeterminedRates fit = fit_determined_rates(samples_of(assumed, real));
  EXPECT_FALSE(fit.common);
  EXPECT_TRUE(rate_named(fit.rates, "linear_tflops").determined);
  const DeterminedRates none = fit_determined_rates({});
  EXPECT_FALSE(none.common);
}

// One step that is wrong by a factor of three does not move the rates of the rest.
TEST(FitRates, OneWrongStepCountsLittle) {
  const StrategyInstance assumed = job(2);
  StrategyInstance real = assumed;
  real.cost.linear_tflops *= 0.7;
  std::vector<StrategySample> samples = samples_of(assumed, real);
  samples[7].step_ms *= 3;
  EXPECT_NEAR(rate_named(fit_rates(samples), "linear_tflops").factor, 0.7, 0.05);
}

}  // namespace
}  // namespace stowage::strategy_fit_rates_test
