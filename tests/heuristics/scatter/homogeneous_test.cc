#include "heuristics/scatter/published/homogeneous.h"

#include <gtest/gtest.h>

namespace stowage::scatter_homogeneous_test {
namespace {

// 4 devices, 10 tokens each: bins of degree 2 hold max(18, longest).
ScatterInstance step(std::vector<Tokens> lengths) {
  return {.cluster = {.devices = 4, .memory_mib = 10, .degrees = {1, 2, 4}},
          .model = {.activation_mib_per_token = 1},
          .cost = {.linear_ms = 1, .fixed_ms = 5},
          .lengths = std::move(lengths)};
}

TEST(ScatterHomogeneous, BinsAreNineTenthsOfTheGroupAndConsecutive) {
  const ScatterTable table(step({9, 9, 9, 9, 9, 9}));
  const auto draft = homogeneous(table, 1);
  ASSERT_TRUE(draft);
  ASSERT_EQ(draft->size(), 2U);  // three bins of two, two bins a micro-batch
  EXPECT_EQ(draft->at(0).groups.size(), 2U);
  EXPECT_EQ(draft->at(1).groups.size(), 1U);
  EXPECT_EQ(draft->at(0).makespan, 5 + 9.0);
  EXPECT_EQ(total(*draft), 2 * (5 + 9.0));
}

TEST(ScatterHomogeneous, ALongSequenceWidensTheBins) {
  const ScatterTable table(step({20, 10, 10}));
  const auto draft = homogeneous(table, 1);
  ASSERT_TRUE(draft);
  ASSERT_EQ(draft->size(), 1U);
  EXPECT_EQ(draft->at(0).groups[1].held, 20);  // 18 would not have held both
}

TEST(ScatterHomogeneous, DeclinesWhatItCannotHold) {
  const ScatterTable table(step({21}));
  EXPECT_FALSE(homogeneous(table, 0));
  EXPECT_FALSE(homogeneous(table, 1));
  EXPECT_TRUE(homogeneous(table, 2));
}

TEST(ScatterHomogeneous, BatchAdaIsTheBestDegree) {
  const ScatterTable table(step({8, 8, 8, 8}));
  const auto best = batch_ada(table);
  ASSERT_TRUE(best);
  for (int config = 0; config < 3; ++config) {
    EXPECT_LE(total(*best), total(*homogeneous(table, config)));
  }
  EXPECT_EQ(total(*best), 5 + 8.0);  // four groups of one device
}

}  // namespace
}  // namespace stowage::scatter_homogeneous_test
