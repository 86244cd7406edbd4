// The published planners for neighbouring problems: what each promises of its plans.
#include <gtest/gtest.h>

#include <bit>

#include "heuristics/scatter/bytescale.h"
#include "heuristics/scatter/megatron.h"
#include "heuristics/scatter/skrull.h"
#include "tests/tiny_scatter.h"

namespace stowage {
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

int degree(const ScatterTable& table, const GroupDraft& group) {
  return table.levels()[static_cast<std::size_t>(group.level)].degree;
}

TEST(ScatterSkrull, KeepsWhatFitsLocalAndShardsTheRest) {
  const ScatterTable table = eight({1, 2, 8}, true, {400, 90, 90, 90, 90, 60, 60, 60, 60, 20, 20});
  const StepDraft step = *skrull(table);
  ASSERT_EQ(step.size(), 2U);
  for (const MicroBatchDraft& batch : step) {
    for (const GroupDraft& group : batch.groups) {
      for (const int position : group.positions) {
        EXPECT_EQ(degree(table, group), table.length(position) > 100 ? 8 : 1);
      }
    }
  }
}

// 9 x 60 tokens fill eight devices of 100 but no two share one: the ninth is sharded.
TEST(ScatterSkrull, RollsBackToShardingWhereMemoryEnds) {
  const ScatterTable table = eight({1, 8}, true, std::vector<Tokens>(9, 60));
  const StepDraft step = *skrull(table);
  ASSERT_EQ(step.size(), 2U);
  EXPECT_EQ(step[0].groups.size(), 8U);
  ASSERT_EQ(step[1].groups.size(), 1U);
  EXPECT_EQ(degree(table, step[1].groups[0]), 8);
}

TEST(ScatterBytescale, TakesAsManyDevicesAsASequenceFills) {
  const ScatterTable table =
      eight({1, 2, 3, 4, 5, 6, 7, 8}, false, {450, 250, 101, 100, 60, 40, 30});
  const StepDraft step = *bytescale(table);
  for (const MicroBatchDraft& batch : step) {
    for (const GroupDraft& group : batch.groups) {
      const Tokens longest = table.length(group.positions.front());
      EXPECT_EQ(degree(table, group), (longest + 99) / 100);
    }
  }
}

TEST(ScatterMegatron, TakesPowersOfTwoAndFillsIdleDevices) {
  const ScatterTable table = eight({1, 2, 3, 4, 5, 6, 7, 8}, false, {250, 150, 150});
  const StepDraft step = *megatron(table);
  ASSERT_EQ(step.size(), 1U);
  for (const GroupDraft& group : step[0].groups) {
    EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>(degree(table, group))));
  }
  EXPECT_EQ(step[0].groups.size(), 3U);  // 4 + 2 + 2: none idle
  const ScatterTable wide = eight({1, 2, 4, 8}, true, {90, 90});
  EXPECT_EQ(degree(wide, (*megatron(wide))[0].groups[0]), 4);  // doubled until none is idle
}

TEST(ScatterMegatron, DeclinesWithoutPowersOfTwo) {
  EXPECT_FALSE(megatron(eight({3, 6}, true, {50})));
}

}  // namespace
}  // namespace stowage
