// Bounds of strategies against brute force, one class at a time.
#include "formulations/strategy/bounds.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "tests/instances/draw.h"
#include "tests/oracles/strategy/brute_force.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_bounds_test {
namespace {

TEST(StrategyBounds, NoneIsAboveTheOptimumOfItsClass) {
  Draw draw(5);
  int compared = 0;
  int refused = 0;
  int higher = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const StrategyInstance all = tiny_with_shares(seed);
    const StrategyTable all_classes(all);
    for (const StrategyClass& its : all_classes.classes()) {
      StrategyInstance one = all;
      one.options.pp = {its.pp};
      one.options.v = {its.v};
      one.options.micro_batches = {its.micro_batches};
      const auto best = brute_force(one);
      if (!best) continue;
      ++compared;
      const Ms most = best->step_ms * (1 + 1e-9);
      const StrategyTable table(one);
      EXPECT_LE(work_bound(table), most) << seed;
      StrategyCertificate::Class prices{its.pp, its.v, its.micro_batches, {}};
      for (std::int64_t s = 0; s < its.pp; ++s) prices.prices.push_back(draw.real(0, 1));
      prices.prices.front() += 0.1;
      double sum = 0;
      for (const double price : prices.prices) sum += price;
      for (double& price : prices.prices) price /= sum;
      const Ms before = class_bound(table, prices);
      EXPECT_LE(before, most) << seed;
      // The checker of certificates accepts the same bound, and a higher one only by the work of
      // all layers.
      const auto proves = [&](Ms bound) {
        return check_certificate(one, {.bound_ms = bound, .classes = {prices}}).violations.empty();
      };
      EXPECT_TRUE(proves(before * (1 - 1e-9))) << seed;
      refused += proves(before * (1 + 1e-6)) ? 0 : 1;
      const Ms raised = raise_prices(table, prices, std::numeric_limits<double>::infinity(),
                                     Budget({.node_limit = 50}));
      EXPECT_GE(raised, before * (1 - 1e-9)) << seed;
      higher += raised > before * (1 + 1e-9) ? 1 : 0;
      EXPECT_LE(raised, most) << seed;
      EXPECT_LE(class_bound(table, prices), most) << seed;
    }
  }
  EXPECT_GT(compared, 100);
  EXPECT_GE(refused * 10, compared * 8);
  EXPECT_GT(higher, 20);
}

// The bound of all classes at once, with equal prices: finite, proven by what it comes with, and
// not above the optimum. Where there is no time for all classes there is none.
TEST(StrategyBounds, OfEqualPricesIsProvenAndNotAboveTheOptimum) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const StrategyInstance all = tiny_with_shares(seed);
    const auto best = brute_force(all);
    if (!best) continue;
    ++compared;
    const StrategyTable table(all);
    const std::optional<StrategyCertificate> certificate = equal_prices(table, Budget());
    ASSERT_TRUE(certificate) << seed;
    EXPECT_GT(certificate->bound_ms, 0) << seed;
    EXPECT_LE(certificate->bound_ms, best->step_ms * (1 + 1e-9)) << seed;
    StrategyCertificate lowered = *certificate;
    lowered.bound_ms *= 1 - 1e-9;
    EXPECT_TRUE(check_certificate(all, lowered).violations.empty()) << seed;
    EXPECT_FALSE(equal_prices(table, Budget({.time_limit_s = 0}))) << seed;
  }
  EXPECT_GT(compared, 30);
}

// On one device with rows that are alike all work is one stage's: the bound is the step itself.
TEST(StrategyBounds, WorkIsTheStepOfOneDevice) {
  for (const bool flash : {true, false}) {
    for (const bool causal : {true, false}) {
      const StrategyInstance one{
          .model = {.hidden = 256,
                    .heads = 4,
                    .vocabulary = 500,
                    .causal = causal,
                    .flash_attention = flash,
                    .blocks = {{.count = 3, .ffn = 1024}, {.count = 1, .ffn = 64}}},
          .cluster = {.nodes = 1, .devices_per_node = 1, .memory_mib = 5000},
          .cost = {.linear_tflops = 0.5, .attention_tflops = 0.25, .half_width = 30},
          .options = {.zero = {0}, .recompute = {StrategyRecompute::none}},
          .lengths = {1000, 1000, 1000}};
      const auto best = brute_force(one);
      ASSERT_TRUE(best);
      EXPECT_NEAR(work_bound(StrategyTable(one)), best->step_ms, 1e-9 * best->step_ms);
    }
  }
}

TEST(StrategyBounds, LeastMemoryIsWhereSomethingBeginsToFit) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    StrategyInstance instance = tiny_with_shares(seed);
    const LeastMemory least = least_memory(StrategyTable(instance));
    if (least.mib == std::numeric_limits<double>::infinity()) {
      EXPECT_FALSE(brute_force(instance)) << seed;
      continue;
    }
    instance.cluster.memory_mib = least.mib * (1 + 1e-6);
    EXPECT_TRUE(brute_force(instance)) << seed;
    instance.cluster.memory_mib = least.mib * (1 - 1e-6);
    EXPECT_FALSE(brute_force(instance)) << seed;
    ++found;
  }
  EXPECT_GT(found, 60);
}

}  // namespace
}  // namespace stowage::strategy_bounds_test
