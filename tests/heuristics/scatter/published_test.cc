// The published planners for related problems: the promises of each about its plans.
#include <gtest/gtest.h>

#include <bit>

#include "heuristics/scatter/published/bytescale.h"
#include "heuristics/scatter/published/megatron_dp_balanced.h"
#include "heuristics/scatter/published/megatron_dynamic.h"
#include "heuristics/scatter/published/megatron_hybrid.h"
#include "heuristics/scatter/published/skrull.h"
#include "heuristics/scatter/published/verl.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_published_test {
namespace {

// Eight devices of 100 tokens.
ScatterTable eight(std::vector<int> degrees, bool aligned, std::vector<Tokens> lengths) {
  return ScatterTable(ScatterInstance{.cluster = {.devices = 8,
                                                  .memory_mib = 100,
                                                  .degrees = std::move(degrees),
                                                  .aligned = aligned},
                                      .model = {.activation_mib_per_token = 1},
                                      .cost = {.linear_ms = 1, .fixed_ms = 1},
                                      .lengths = std::move(lengths)});
}

int degree(const ScatterTable& table, const WorkingGroup& group) {
  return table.configs()[static_cast<std::size_t>(group.config)].degree;
}

TEST(ScatterSkrull, KeepsWhatFitsLocalAndShardsTheRest) {
  const ScatterTable table = eight({1, 2, 8}, true, {400, 90, 90, 90, 90, 60, 60, 60, 60, 20, 20});
  const WorkingStep step = *skrull(table);
  ASSERT_EQ(step.size(), 2U);
  for (const WorkingMicroBatch& batch : step) {
    for (const WorkingGroup& group : batch.groups) {
      for (const int position : group.positions) {
        EXPECT_EQ(degree(table, group), table.length(position) > 100 ? 8 : 1);
      }
    }
  }
}

// 9 x 60 tokens fill eight devices of 100 but no two share one: the ninth is sharded.
TEST(ScatterSkrull, RollsBackToShardingWhereMemoryEnds) {
  const ScatterTable table = eight({1, 8}, true, std::vector<Tokens>(9, 60));
  const WorkingStep step = *skrull(table);
  ASSERT_EQ(step.size(), 2U);
  EXPECT_EQ(step[0].groups.size(), 8U);
  ASSERT_EQ(step[1].groups.size(), 1U);
  EXPECT_EQ(degree(table, step[1].groups[0]), 8);
}

TEST(ScatterBytescale, TakesAsManyDevicesAsASequenceFills) {
  const ScatterTable table =
      eight({1, 2, 3, 4, 5, 6, 7, 8}, false, {450, 250, 101, 100, 60, 40, 30});
  const WorkingStep step = *bytescale(table);
  for (const WorkingMicroBatch& batch : step) {
    for (const WorkingGroup& group : batch.groups) {
      const Tokens longest = table.length(group.positions.front());
      EXPECT_EQ(degree(table, group), (longest + 99) / 100);
    }
  }
}

TEST(ScatterMegatron, TakesPowersOfTwoAndFillsIdleDevices) {
  const ScatterTable table = eight({1, 2, 3, 4, 5, 6, 7, 8}, false, {250, 150, 150});
  const WorkingStep step = *megatron_hybrid(table);
  ASSERT_EQ(step.size(), 1U);
  for (const WorkingGroup& group : step[0].groups) {
    EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>(degree(table, group))));
  }
  EXPECT_EQ(step[0].groups.size(), 3U);  // 4 + 2 + 2: none idle
  const ScatterTable wide = eight({1, 2, 4, 8}, true, {90, 90});
  EXPECT_EQ(degree(wide, (*megatron_hybrid(wide))[0].groups[0]), 4);  // doubled until none is idle
}

TEST(ScatterMegatron, DeclinesWithoutPowersOfTwo) {
  EXPECT_FALSE(megatron_hybrid(eight({3, 6}, true, {50})));
  EXPECT_FALSE(megatron_dynamic(eight({3, 6}, true, {50})));
}

// By hand: work may reach 1.05 * 250 * 100 = 26,250. 250 tokens need four devices and work 15,625.
// Two of 150 need two devices each and work 11,250. The third finds no free device; beside the
// first of its kind there is no room, beside 250 there is, and work is 15,625 + 5,625. Both groups
// of 150 would work 12,262.5 with the 45 tokens, and the first takes them; it has no room for 40
// more.
TEST(ScatterMegatronDynamic, PacksByWorkWithinTheTokensOfADevice) {
  const ScatterTable table = eight({1, 2, 4, 8}, true, {250, 150, 150, 150, 45, 40});
  const WorkingStep step = *megatron_dynamic(table);
  ASSERT_EQ(step.size(), 1U);
  ASSERT_EQ(step[0].groups.size(), 3U);
  EXPECT_EQ(degree(table, step[0].groups[0]), 4);
  EXPECT_EQ(step[0].groups[0].positions, (std::vector<int>{0, 3}));
  EXPECT_EQ(step[0].groups[1].positions, (std::vector<int>{1, 4}));
  EXPECT_EQ(step[0].groups[2].positions, (std::vector<int>{2, 5}));
}

// Work of 1.05 * 100 * 100 = 10,500 at most: a device takes one sequence of 90, and the ninth
// waits, though 10 tokens more would fit beside each.
TEST(ScatterMegatronDynamic, WhatFindsNoGroupWaitsForTheNextMicroBatch) {
  const ScatterTable table = eight({1, 2, 4, 8}, true, {90, 90, 90, 90, 90, 90, 90, 90, 90, 8});
  const WorkingStep step = *megatron_dynamic(table);
  ASSERT_EQ(step.size(), 2U);
  EXPECT_EQ(step[0].groups.size(), 8U);
  EXPECT_EQ(step[0].groups[0].positions, (std::vector<int>{0, 9}));
  ASSERT_EQ(step[1].groups.size(), 1U);
  EXPECT_EQ(degree(table, step[1].groups[0]), 8);
}

// A sequence that fits on one device is spread over all devices, so that none is idle.
TEST(ScatterMegatronDynamic, DoublesTheSmallestGroupsUntilNoneIsIdle) {
  const ScatterTable table = eight({1, 2, 4, 8}, true, {90, 90, 80});
  const WorkingStep step = *megatron_dynamic(table);
  ASSERT_EQ(step.size(), 1U);
  std::vector<int> degrees;
  for (const WorkingGroup& group : step[0].groups) degrees.push_back(degree(table, group));
  EXPECT_EQ(degrees, (std::vector<int>{4, 2, 2}));
  EXPECT_TRUE(megatron_dynamic(eight({1}, true, {}))->empty());
}

std::vector<std::vector<std::vector<int>>> positions(const WorkingStep& step) {
  std::vector<std::vector<std::vector<int>>> all;
  for (const WorkingMicroBatch& batch : step) {
    all.emplace_back();
    for (const WorkingGroup& group : batch.groups) all.back().push_back(group.positions);
  }
  return all;
}

using Groups = std::vector<std::vector<std::vector<int>>>;

// Packs of 200 tokens, in this order: 150 + 40, 120 + 60, 30 + 30. Four fit side by side, and the
// last one gives its last sequence to a fourth. Positions are by length.
TEST(ScatterDpBalanced, PacksInTheOrderOfTheDataAndFillsTheMicroBatch) {
  const WorkingStep step = *dp_balanced(eight({2}, true, {150, 40, 120, 60, 30, 30}));
  EXPECT_EQ(positions(step), (Groups{{{0, 3}, {1, 2}, {4}, {5}}}));
}

// The 40 tokens go beside the second 60, though they would fit beside the first; then nothing is
// left to be given: five packs of one sequence stay on eight devices.
TEST(ScatterDpBalanced, LooksAtTheLastPackOnly) {
  const ScatterTable table = eight({1}, true, {60, 60, 40, 90, 10});
  EXPECT_EQ(positions(*dp_balanced(table)), (Groups{{{1}, {2}, {0}, {4}, {3}}}));
}

// One group of eight takes 1 + 430 / 8 ms; two of four 101 ms, four of two 96 ms.
TEST(ScatterDpBalanced, TakesTheDegreeThatIsFastest) {
  const ScatterTable table = eight({2, 4, 8}, true, {150, 40, 120, 60, 30, 30});
  const WorkingStep step = *dp_balanced(table);
  ASSERT_EQ(step.size(), 1U);
  ASSERT_EQ(step[0].groups.size(), 1U);
  EXPECT_EQ(degree(table, step[0].groups[0]), 8);
  EXPECT_FALSE(dp_balanced(eight({1}, true, {101})));
  EXPECT_TRUE(dp_balanced(eight({1}, true, {}))->empty());
}

// Four ranks of two devices and rounds of four samples: 150, 120, 60, 40 and 30, 30, 20, 10. The
// dearest of the second round, the later 30, goes to the cheapest of the first.
TEST(ScatterVerl, SharesSamplesInEqualCountsByDifferencing) {
  const WorkingStep step = *verl(eight({2}, true, {150, 120, 60, 40, 30, 30, 20, 10}));
  EXPECT_EQ(positions(step), (Groups{{{0, 7}, {1, 6}, {2, 4}, {3, 5}}}));
}

// 1,600 tokens need two micro-batches of 800, but 700 stands against 500 + 400: three. The one of
// most work comes to the middle.
TEST(ScatterVerl, TakesMoreMicroBatchesUntilNoneExceedsTheLimit) {
  const ScatterTable table = eight({8}, true, {700, 500, 400});
  EXPECT_EQ(positions(*verl(table)), (Groups{{{2}}, {{0}}, {{1}}}));
  EXPECT_FALSE(verl(eight({1}, true, {101})));
  EXPECT_TRUE(verl(eight({1}, true, {}))->empty());
}

// The second round of two is wider, and its dearer sample meets the cheaper of the first: 290 + 200
// and 300 + 180 tokens, of 400. Both ranks need two micro-batches, and like ones run side by side.
TEST(ScatterVerl, RunsLikeMicroBatchesOfTheRanksSideBySide) {
  const WorkingStep step = *verl(eight({4}, true, {300, 290, 200, 180}));
  EXPECT_EQ(positions(step), (Groups{{{1}, {0}}, {{2}, {3}}}));
}

}  // namespace
}  // namespace stowage::scatter_published_test
