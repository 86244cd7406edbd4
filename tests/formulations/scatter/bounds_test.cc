#include "formulations/scatter/bounds.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

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
}

TEST(ScatterBounds, TheLeastOverheadIsCharged) {
  ScatterInstance instance = step({20, 10, 10, 10});
  instance.cost.all_to_all.latency_ms = {{1, 2.0}, {2, 1.0}, {4, 3.0}};
  EXPECT_DOUBLE_EQ(bounds_of(instance).at("area"), 2 * 6 + 50.0 / 4);
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
