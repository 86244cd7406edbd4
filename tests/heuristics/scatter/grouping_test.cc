#include "heuristics/scatter/construct/grouping.h"

#include <gtest/gtest.h>

#include <numeric>

#include "heuristics/scatter/construct/lpt.h"
#include "heuristics/scatter/improve/local_search.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_grouping_test {
namespace {

std::vector<int> everyone(const ScatterTable& table) {
  std::vector<int> all(static_cast<std::size_t>(table.size()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void expect_sound(const ScatterTable& table, const WorkingMicroBatch& batch) {
  EXPECT_EQ(positions_of(batch), everyone(table));
  int devices = 0;
  for (const WorkingGroup& group : batch.groups) {
    const GroupConfig& config = table.configs()[static_cast<std::size_t>(group.config)];
    Tokens tokens = 0;
    Ms time = config.overhead;
    for (const int position : group.positions) {
      tokens += table.length(position);
      time += table.cost(position, group.config);
    }
    EXPECT_EQ(tokens, group.held);
    EXPECT_NEAR(time, group.time, 1e-9 * time);
    EXPECT_LE(tokens, config.capacity);
    if (!group.positions.empty()) devices += config.degree;
  }
  EXPECT_LE(devices, table.devices());
  EXPECT_DOUBLE_EQ(batch.makespan, slowest(batch));
}

TEST(ScatterGrouping, GroupingsAreSoundAndNoBetterThanTheEstimate) {
  int grouped = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed, 10);
    if (instance.lengths.empty() || !unplaceable_sequences(instance).empty()) continue;
    const ScatterTable table(instance);
    const auto batch = group_micro_batch(table, everyone(table));
    if (!batch) continue;
    ++grouped;
    expect_sound(table, *batch);
    EXPECT_GE(batch->makespan * (1 + 1e-9), grouping_estimate(table, everyone(table)));
  }
  EXPECT_GT(grouped, 300);
}

// Two groups of one device, times 3 + 3 against 2 + 2 + 2: LPT gets 7, a swap gets 6.
TEST(ScatterPolish, FindsTheSwapThatLptMisses) {
  const ScatterInstance instance{.cluster = {.devices = 2, .memory_mib = 100, .degrees = {1}},
                                 .model = {.activation_mib_per_token = 1},
                                 .cost = {.linear_ms = 1},
                                 .lengths = {3, 3, 2, 2, 2}};
  const ScatterTable table(instance);
  const std::vector<int> mix{2};
  auto batch = lpt_groups(table, mix, everyone(table), 1000);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->makespan, 7);
  polish(table, *batch, 100);
  EXPECT_EQ(batch->makespan, 6);
  expect_sound(table, *batch);
}

TEST(ScatterPolish, NeverRaisesTheMakespan) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed, 10);
    if (instance.lengths.empty() || !unplaceable_sequences(instance).empty()) continue;
    const ScatterTable table(instance);
    std::vector<int> mix(table.configs().size(), 0);
    mix.back() = table.devices() / table.configs().back().degree;
    auto batch = lpt_groups(table, mix, everyone(table), 1e9);
    if (!batch) continue;
    const Ms before = batch->makespan;
    polish(table, *batch, 100);
    EXPECT_LE(batch->makespan, before);
    expect_sound(table, *batch);
  }
}

TEST(ScatterLpt, GivesUpAtTheCutoffAndWithoutRoom) {
  const ScatterInstance instance{.cluster = {.devices = 2, .memory_mib = 5, .degrees = {1, 2}},
                                 .model = {.activation_mib_per_token = 1},
                                 .cost = {.linear_ms = 1},
                                 .lengths = {4, 4, 4}};
  const ScatterTable table(instance);
  EXPECT_FALSE(lpt_groups(table, std::vector<int>{2, 0}, everyone(table), 1e9));  // memory
  const std::vector<int> two{0, 1};
  EXPECT_TRUE(lpt_groups(table, std::vector<int>{2, 0}, two, 4.5));
  EXPECT_FALSE(lpt_groups(table, std::vector<int>{2, 0}, two, 4));  // must end before the cutoff
}

// 28 tokens of memory, 14 per device: one exact split works, and enumeration must find it.
TEST(ScatterGrouping, FindsTheOnlyGroupingOfTightMemory) {
  const ScatterInstance instance{.cluster = {.devices = 3, .memory_mib = 14, .degrees = {1, 2}},
                                 .model = {.activation_mib_per_token = 1},
                                 .cost = {.linear_ms = 1},
                                 .lengths = {28, 10, 4}};
  const ScatterTable table(instance);
  const auto batch = group_micro_batch(table, everyone(table));
  ASSERT_TRUE(batch);
  expect_sound(table, *batch);
}

TEST(ScatterGrouping, RefusesMoreTokensThanTheClusterHolds) {
  const ScatterInstance instance{.cluster = {.devices = 2, .memory_mib = 10, .degrees = {1, 2}},
                                 .model = {.activation_mib_per_token = 1},
                                 .cost = {.linear_ms = 1},
                                 .lengths = {10, 10, 1}};
  const ScatterTable table(instance);
  EXPECT_FALSE(group_micro_batch(table, everyone(table)));
}

}  // namespace
}  // namespace stowage::scatter_grouping_test
