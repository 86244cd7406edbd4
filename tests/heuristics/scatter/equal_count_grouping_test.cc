#include "heuristics/scatter/construct/equal_counts/equal_count_grouping.h"

#include <gtest/gtest.h>

#include <numeric>

#include "heuristics/scatter/improve/rule_repair.h"
#include "instances/scatter/verify/verify.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_even_groups_test {
namespace {

std::vector<int> all_of(const ScatterTable& table) {
  std::vector<int> all(static_cast<std::size_t>(table.size()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Four devices; a group of degree d takes 10 + tokens / d ms.
ScatterInstance four_devices(std::vector<Tokens> lengths) {
  return {.name = "four",
          .cluster = {.devices = 4, .memory_mib = 1000, .degrees = {1, 2}},
          .model = {.activation_mib_per_token = 1},
          .cost = {.linear_ms = 1, .fixed_ms = 10},
          .rules = {.equal_sequences = true},
          .lengths = std::move(lengths)};
}

// 80 on two devices and 40 and 30 on one each take 10 + 40; with the fourth sequence two groups of
// two, 80 + 20 on two devices and 40 + 30 on the others: 10 + 50.
TEST(EvenGroups, AsManyGroupsAsTheNumberOfSequencesHasDivisors) {
  const ScatterTable three(four_devices({80, 40, 30}));
  const auto apart = equal_count_grouping(three, all_of(three), 8);
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->groups.size(), 3U);
  EXPECT_DOUBLE_EQ(apart->makespan, 50);
  const ScatterTable four(four_devices({80, 40, 30, 20}));
  const auto pairs = equal_count_grouping(four, all_of(four), 8);
  ASSERT_TRUE(pairs);
  EXPECT_TRUE(has_equal_groups(*pairs));
  EXPECT_DOUBLE_EQ(pairs->makespan, 60);
}

TEST(EvenGroups, DegreesSumUpToAllDevicesWhereNoneMayIdle) {
  ScatterInstance instance = four_devices({10, 10, 10});
  instance.rules.no_idle_ranks = true;
  const ScatterTable table(instance);
  const auto batch = equal_count_grouping(table, all_of(table), 8);
  ASSERT_TRUE(batch);
  int devices = 0;
  for (const WorkingGroup& group : batch->groups) {
    devices += table.configs()[static_cast<std::size_t>(group.config)].degree;
  }
  EXPECT_EQ(devices, 4);
}

TEST(EvenGroups, ChunksAreAStepThatKeepsTheRule) {
  int made = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    ScatterInstance instance = tiny_memory_scatter(seed, 12);
    instance.rules.equal_sequences = true;
    instance.rules.no_idle_ranks = seed % 2 == 0;
    const ScatterTable table(instance);
    if (table.size() == 0 || table.alone(0) == kInfinity) continue;
    const auto step = even_chunks(table, Budget());
    if (!step) continue;
    ++made;
    EXPECT_TRUE(satisfies_rules(table, *step)) << seed;
    EXPECT_TRUE(verify(instance, to_plan(instance, table, *step)).empty()) << seed;
  }
  EXPECT_GT(made, 150);
}

}  // namespace
}  // namespace stowage::scatter_even_groups_test
