#include "heuristics/scatter/construct/multifit/multifit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "heuristics/scatter/construct/grouping.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "heuristics/scatter/published/homogeneous.h"
#include "instances/scatter/verify/verify.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_fit_test {
namespace {

std::vector<int> everyone(const ScatterTable& table) {
  std::vector<int> all(static_cast<std::size_t>(table.size()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void expect_valid(const ScatterInstance& instance, const ScatterTable& table,
                  const WorkingStep& step) {
  const auto violations = verify(instance, to_plan(instance, table, step));
  EXPECT_TRUE(violations.empty()) << to_string(violations.front());
}

TEST(ScatterFit, ManyTargetsForOneMicroBatch) {
  int packed = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed, 10);
    if (instance.lengths.empty() || !unplaceable_sequences(instance).empty()) continue;
    const ScatterTable table(instance);
    const Ms estimate = grouping_estimate(table, everyone(table));
    for (const double slack : {1.0, 1.5, 4.0}) {
      const auto batch = multifit(table, everyone(table), estimate, slack * estimate, 4);
      if (!batch) continue;
      ++packed;
      // The makespan is summed again in another order.
      EXPECT_LE(batch->makespan, slack * estimate * (1 + 1e-12));
      expect_valid(instance, table, {*batch});
    }
  }
  EXPECT_GT(packed, 300);
}

TEST(ScatterFit, ProfilesArePackedSoundlyAndWithinTheirReach) {
  int packed = 0;
  int better = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed, 12);
    if (instance.lengths.empty() || !unplaceable_sequences(instance).empty()) continue;
    const ScatterTable table(instance);
    const auto known = batch_ada(table);
    if (!known) continue;
    const auto made = fit_profile(table, targets_of(table, *known), {}, as_planned, seed, Budget{});
    if (!made) continue;
    ++packed;
    expect_valid(instance, table, *made);
    EXPECT_LE(made->size(), known->size());
    EXPECT_LE(total(*made), 2.5 * total(*known) * (1 + 1e-12));
    if (total(*made) < total(*known)) ++better;
  }
  EXPECT_GT(packed, 300);
  EXPECT_GT(better, 100);
}

// Two devices and times 5, 4, 2 and 1 in one micro-batch: 6 is the least makespan, and no packing
// reaches half of the longest sequence's time.
TEST(ScatterFit, FindsTheLeastMakespanOfAProfile) {
  const ScatterInstance instance{.cluster = {.devices = 2, .memory_mib = 100, .degrees = {1}},
                                 .model = {.activation_mib_per_token = 1},
                                 .cost = {.linear_ms = 1},
                                 .lengths = {5, 4, 2, 1}};
  const ScatterTable table(instance);
  const std::vector<BatchTarget> long_enough{{7}};
  const auto made = fit_profile(table, long_enough, {}, as_planned, 0, Budget{});
  ASSERT_TRUE(made);
  EXPECT_DOUBLE_EQ(total(*made), 6);
  const std::vector<BatchTarget> hopeless{{2}};
  EXPECT_FALSE(fit_profile(table, hopeless, {}, as_planned, 0, Budget{}));
}

// Each group of two devices holds one of three sequences, and there are two groups; all four
// devices together hold the three.
TEST(ScatterFit, UnitesGroupsWhereTheirMemoryIsTooSmallApart) {
  const ScatterInstance instance{.cluster = {.devices = 4, .memory_mib = 100, .degrees = {1, 2, 4}},
                                 .model = {.activation_mib_per_token = 1},
                                 .cost = {.linear_ms = 1},
                                 .lengths = {130, 130, 130, 5}};
  const ScatterTable table(instance);
  const std::vector<BatchTarget> one{{120}};
  const auto made = fit_profile(table, one, {}, as_planned, 0, Budget{});
  ASSERT_TRUE(made);
  ASSERT_EQ(made->size(), 1U);
  expect_valid(instance, table, *made);
  ASSERT_EQ(made->front().groups.size(), 1U);
  EXPECT_DOUBLE_EQ(total(*made), 395.0 / 4);
  const std::vector<BatchTarget> too_short{{30}};
  EXPECT_FALSE(fit_profile(table, too_short, {}, as_planned, 0, Budget{}));
}

TEST(ScatterFit, TheSameSeedMakesTheSamePacking) {
  const ScatterInstance instance = tiny_scatter(7, 12);
  const ScatterTable table(instance);
  const auto known = batch_ada(table);
  ASSERT_TRUE(known);
  const auto one = fit_profile(table, targets_of(table, *known), {}, as_planned, 3, Budget{});
  const auto two = fit_profile(table, targets_of(table, *known), {}, as_planned, 3, Budget{});
  ASSERT_TRUE(one && two);
  ASSERT_EQ(one->size(), two->size());
  for (std::size_t b = 0; b < one->size(); ++b) {
    EXPECT_EQ(positions_of((*one)[b]), positions_of((*two)[b]));
    EXPECT_EQ((*one)[b].makespan, (*two)[b].makespan);
  }
}

}  // namespace
}  // namespace stowage::scatter_fit_test
