#include "heuristics/scatter/improve/rule_repair.h"

#include <gtest/gtest.h>

#include "heuristics/scatter/published/homogeneous.h"
#include "instances/scatter/verify/verify.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_obey_test {
namespace {

// Four devices of 100 tokens; a group of degree d takes 10 + tokens / d ms.
ScatterInstance four_devices(std::vector<Tokens> lengths, std::vector<int> degrees) {
  return {.name = "four",
          .cluster = {.devices = 4, .memory_mib = 100, .degrees = std::move(degrees)},
          .model = {.activation_mib_per_token = 1},
          .cost = {.linear_ms = 1, .fixed_ms = 10},
          .lengths = std::move(lengths)};
}

WorkingStep one_batch(const ScatterTable& table, std::vector<std::vector<int>> groups) {
  WorkingStep step(1);
  for (std::vector<int>& positions : groups) {
    step[0].groups.push_back(group_of(table, 0, std::move(positions)));
  }
  step[0].makespan = slowest(step[0]);
  return step;
}

TEST(Obey, WithoutRulesAStepStaysAsItIs) {
  const ScatterTable table(four_devices({80, 40}, {1, 2, 4}));
  const WorkingStep step = one_batch(table, {{0}, {1}});
  EXPECT_TRUE(satisfies_rules(table, step));
  const auto same = repaired(table, step);
  ASSERT_TRUE(same);
  EXPECT_EQ(total(*same), total(step));
}

// 80 and 40 tokens on two devices each: 10 + 40 ms instead of 10 + 80.
TEST(Obey, IdleRanksWidenGroups) {
  ScatterInstance instance = four_devices({80, 40}, {1, 2});
  instance.rules.no_idle_ranks = true;
  const ScatterTable table(instance);
  const WorkingStep step = one_batch(table, {{0}, {1}});
  EXPECT_FALSE(satisfies_rules(table, step));
  const auto filled = repaired(table, step);
  ASSERT_TRUE(filled);
  EXPECT_DOUBLE_EQ(total(*filled), 50);
  EXPECT_TRUE(verify(instance, to_plan(instance, table, *filled)).empty());
}

// With degree 1 alone each sequence gets a rank of its own.
TEST(Obey, IdleRanksSplitGroups) {
  ScatterInstance instance = four_devices({40, 30, 20, 10}, {1});
  instance.rules.no_idle_ranks = true;
  const ScatterTable table(instance);
  const auto filled = repaired(table, one_batch(table, {{0, 1, 2, 3}}));
  ASSERT_TRUE(filled);
  EXPECT_DOUBLE_EQ(total(*filled), 50);
}

TEST(Obey, TooFewSequencesAreNothing) {
  ScatterInstance instance = four_devices({40, 30, 20}, {1});
  instance.rules.no_idle_ranks = true;
  const ScatterTable table(instance);
  EXPECT_FALSE(repaired(table, one_batch(table, {{0, 1}, {2}})));
}

TEST(Obey, TheNumberOfMicroBatchesBecomesAMultiple) {
  ScatterInstance instance = four_devices({40, 30, 20}, {1, 2, 4});
  instance.rules.micro_batches_multiple_of = 2;
  const ScatterTable table(instance);
  const auto two = repaired(table, one_batch(table, {{0, 1}, {2}}));
  ASSERT_TRUE(two);
  EXPECT_EQ(two->size(), 2U);
  EXPECT_TRUE(verify(instance, to_plan(instance, table, *two)).empty());
}

TEST(Obey, WhateverItReturnsKeepsTheRules) {
  int mended = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const ScatterInstance instance = tiny_ruled_scatter(seed, 12);
    const ScatterTable table(instance);
    if (table.configs().empty()) continue;
    const auto step = homogeneous(table, static_cast<int>(table.configs().size()) - 1);
    if (!step || satisfies_rules(table, *step)) continue;
    const auto kept = repaired(table, *step);
    if (!kept) continue;
    ++mended;
    EXPECT_TRUE(satisfies_rules(table, *kept)) << seed;
    EXPECT_TRUE(verify(instance, to_plan(instance, table, *kept)).empty()) << seed;
  }
  EXPECT_GT(mended, 40);
}

}  // namespace
}  // namespace stowage::scatter_obey_test
