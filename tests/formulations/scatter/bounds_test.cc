#include "formulations/scatter/bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_bounds_test {
namespace {

std::map<std::string, double> bounds_of(const ScatterInstance& instance) {
  std::map<std::string, double> values;
  for (const NamedBound& bound : scatter_bounds(ScatterTable(instance))) {
    values[bound.name] = bound.value;
  }
  return values;
}

// 4 devices, 10 tokens each, 1 ms per token and device, 5 ms per group.
ScatterInstance step(std::vector<Tokens> lengths) {
  return {.cluster = {.devices = 4, .memory_mib = 10, .degrees = {1, 2, 4}},
          .model = {.activation_mib_per_token = 1},
          .cost = {.linear_ms = 1, .fixed_ms = 5},
          .lengths = std::move(lengths)};
}

TEST(ScatterBounds, LongestIsItsBestGroupAlone) {
  EXPECT_DOUBLE_EQ(bounds_of(step({40, 3})).at("longest"), 5 + 40.0 / 4);
}

TEST(ScatterBounds, AreaSpreadsDeviceTimeAndChargesEveryMicroBatch) {
  // 50 tokens exceed the 40 of one micro-batch: two overheads.
  EXPECT_DOUBLE_EQ(bounds_of(step({20, 10, 10, 10})).at("area"), 2 * 5 + 50.0 / 4);
}

TEST(ScatterBounds, PigeonholeKeepsLongSequencesApart) {
  // 21 tokens need degree 4, so three of them need three micro-batches of 5 + 21 / 4 ms each.
  const ScatterInstance three = step({21, 21, 21});
  EXPECT_EQ(least_micro_batches(ScatterTable(three)), 3);
  EXPECT_DOUBLE_EQ(bounds_of(three).at("pigeonhole"), 3 * (5 + 21.0 / 4));
  EXPECT_DOUBLE_EQ(bounds_of(three).at("area"), 3 * 5 + 63.0 / 4);
}

TEST(ScatterBounds, PigeonholeCountsWhatAGroupHoldsTogether) {
  // A group of degree 2 holds one of 11, a group of degree 4 three: three fit one micro-batch.
  EXPECT_EQ(least_micro_batches(ScatterTable(step({11, 11, 11}))), 1);
  EXPECT_EQ(least_micro_batches(ScatterTable(step({11, 11, 11, 1, 1, 1, 1}))), 1);
  EXPECT_EQ(least_micro_batches(ScatterTable(step({11, 11, 11, 7}))), 1);
  EXPECT_EQ(least_micro_batches(ScatterTable(step({11, 11, 11, 11}))), 2);
}

TEST(ScatterBounds, UnalignedDegreesUseTheWeakerQuotient) {
  ScatterInstance instance = step({11, 11, 11, 11});
  instance.cluster.degrees = {2, 3};
  instance.cluster.aligned = false;
  // floor(40 / 11) = 3 could fit by tokens, so at least 2 micro-batches.
  EXPECT_EQ(least_micro_batches(ScatterTable(instance)), 2);
  // Two groups of 2 hold two of 10 tokens each; the largest group first, 3, leaves a device over.
  instance.lengths = {10, 10, 10, 10};
  EXPECT_EQ(least_micro_batches(ScatterTable(instance)), 1);
}

// If the degrees are not a chain of divisors, the groups that use all ranks need not begin with the
// largest one.
TEST(ScatterBounds, FewestGroupsMakeUpAllRanks) {
  const auto fewest = [](int devices, std::vector<int> degrees) {
    ScatterInstance instance = step({5});
    instance.cluster.devices = devices;
    instance.cluster.degrees = std::move(degrees);
    instance.cluster.aligned = false;
    instance.rules.no_idle_ranks = true;
    return least_groups(ScatterTable(instance));
  };
  EXPECT_EQ(fewest(6, {2, 3}), 2);
  EXPECT_EQ(fewest(7, {2, 3}), 3);
  EXPECT_EQ(fewest(9, {4, 6}), std::nullopt);
  EXPECT_EQ(fewest(7, {1, 2, 4}), 3);
  EXPECT_EQ(fewest(8, {1, 2, 4}), 2);
  EXPECT_EQ(fewest(7, {2, 4}), std::nullopt);
  EXPECT_EQ(least_groups(ScatterTable(step({5}))), 1);
}

TEST(ScatterBounds, NoneIsAboveTheOptimum) {
  int met = 0;
  const auto compare = [&](const ScatterInstance& instance, std::uint64_t seed) {
    const auto best = brute_force(instance);
    if (!best) return;
    const ScatterTable table(instance);
    double most = 0;
    for (const NamedBound& bound : scatter_bounds(table)) {
      EXPECT_LE(bound.value, best->objective_ms * (1 + 1e-9)) << bound.name << ' ' << seed;
      most = std::max(most, bound.value);
    }
    met += most >= best->objective_ms * (1 - 1e-9) ? 1 : 0;
    EXPECT_LE(static_cast<std::size_t>(least_micro_batches(table)), best->micro_batches.size())
        << seed;
  };
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    compare(tiny_scatter(seed, 5), seed);
    compare(tiny_ruled_scatter(seed, 5), seed);
    compare(tiny_padded_scatter(seed, 5), seed);
    ScatterInstance odd = tiny_ruled_scatter(seed, 5);
    odd.cluster.aligned = false;
    odd.cluster.devices = 4 + static_cast<int>(seed % 4);
    odd.cluster.degrees = seed % 2 == 0 ? std::vector{2, 3} : std::vector{1, 3, 4};
    odd.rules.min_degree = 1;
    odd.rules.no_idle_ranks = seed % 3 == 0;
    for (const int degree : odd.cluster.degrees) odd.cost.all_to_all.mib_per_ms[degree] = 5;
    compare(odd, seed);
    compare(tiny_memory_scatter(seed, 5), seed);
    compare(tiny_pipeline_scatter(seed, 4), seed);
    compare(tiny_recomputing_scatter(seed, 4), seed);
    compare(tiny_kinds_scatter(seed, 5), seed);
  }
  EXPECT_GT(met, 50);
}

TEST(ScatterBounds, TheLeastOverheadIsCharged) {
  ScatterInstance instance = step({20, 10, 10, 10});
  instance.cost.all_to_all.latency_ms = {{1, 2.0}, {2, 1.0}, {4, 3.0}};
  EXPECT_DOUBLE_EQ(bounds_of(instance).at("area"), 2 * 6 + 50.0 / 4);
}

// In a pipeline the longest micro-batch counts again. Of overheads below 1 ms the one that shares
// 0.75 ms of work best is between those of one and of three micro-batches.
TEST(ScatterBounds, MoreMicroBatchesOfAPipelineShareTheirWork) {
  ScatterInstance quick{.cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
                        .model = {.activation_mib_per_token = 1},
                        .cost = {.linear_ms = 0.01, .fixed_ms = 0.1},
                        .lengths = {60, 30, 60}};
  quick.pipeline_stages = 2;
  // The mean of 2.5 micro-batches is the longest sequence, 0.4 ms.
  EXPECT_NEAR(bounds_of(quick).at("area"), 2.5 * 0.1 + 0.75 + 0.4, 1e-12);
  // One more of 0.2 ms costs what a shorter mean gains.
  quick.cost.fixed_ms = 0.2;
  const double count = std::sqrt(0.75 / 0.2);
  EXPECT_NEAR(bounds_of(quick).at("area"), count * 0.2 + 0.75 + 0.2 + 0.75 / count, 1e-12);
}

TEST(ScatterBounds, AnEmptyStepTakesNoTime) {
  EXPECT_EQ(least_micro_batches(ScatterTable(step({}))), 0);
  EXPECT_EQ(bounds_of(step({})).at("area"), 0);
}

TEST(ScatterBounds, WeakestComesFirst) {
  const auto bounds = scatter_bounds(ScatterTable(step({40, 21, 21, 3})));
  ASSERT_EQ(bounds.size(), 3U);
  EXPECT_LE(bounds[0].value, bounds[1].value);
  EXPECT_LE(bounds[1].value, bounds[2].value);
}

}  // namespace
}  // namespace stowage::scatter_bounds_test
