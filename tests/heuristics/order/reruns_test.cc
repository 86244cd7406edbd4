// Plans with recomputation: valid, deterministic, and small ones by hand.
#include "heuristics/order/recompute/reruns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "heuristics/order/recompute/rerun_search.h"
#include "heuristics/order/registry.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/verify/verify.h"
#include "tests/tiny_rerun.h"

namespace stowage::order_reruns_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(OrderReruns, HeuristicsAreValidAndTheSameAgain) {
  int again = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const OrderInstance graph = tiny_rerun(seed, 12);
    const OrderTable table(graph);
    const Budget budget;
    for (const OrderHeuristic& heuristic : heuristics(graph)) {
      if (heuristic.name == "walk" && seed % 20 != 0) continue;  // twenty thousand plans each
      const auto plan = heuristic.run(graph, table, seed, budget);
      if (!plan) {
        EXPECT_TRUE(graph.capacity) << heuristic.name;
        continue;
      }
      for (const Violation& violation : verify(graph, *plan)) {
        ADD_FAILURE() << heuristic.name << seed << to_string(violation);
      }
      EXPECT_EQ(plan->order, heuristic.run(graph, table, seed, budget)->order) << heuristic.name;
      again += plan->order.size() > graph.operators.size() ? 1 : 0;
    }
  }
  EXPECT_GT(again, 20);
}

// f makes a, which g reads at once and h at the end; m needs much memory and runs between them.
OrderInstance across() {
  return {.tensors = {{.size = 5, .input = true},
                      {.size = 20},
                      {.size = 2},
                      {.size = 30},
                      {.size = 1},
                      {.size = 1, .output = true}},
          .operators = {{.reads = {0}, .writes = {1}, .ms = 2, .recompute = true},
                        {.reads = {1}, .writes = {2}, .ms = 1},
                        {.reads = {2}, .writes = {3}, .ms = 1},
                        {.reads = {3}, .writes = {4}, .ms = 1},
                        {.reads = {1, 4}, .writes = {5}, .ms = 1}}};
}

TEST(OrderReruns, WhatIsInTheWayIsMadeAgainBeforeItsNextUse) {
  const OrderInstance graph = across();
  const OrderTable table(graph);
  const Budget budget;
  // m needs a, b and c, 52 bytes, or 37 bytes with x instead of a.
  EXPECT_THAT(*evicted_within(table, table.program_order(), 52, budget),
              ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(*evicted_within(table, table.program_order(), 37, budget),
              ElementsAre(0, 1, 2, 3, 0, 4));
  EXPECT_FALSE(evicted_within(table, table.program_order(), 36, budget));
  EXPECT_THAT(evicted_to(table, table.program_order(), 0, budget), ElementsAre(0, 1, 2, 3, 0, 4));
}

TEST(OrderReruns, NeedlessRunsAreDropped) {
  const OrderInstance graph = across();
  const OrderTable table(graph);
  Evictions evictions(table);
  std::vector<int> steps = {0, 0, 1, 2, 3, 0, 4};
  evictions.drop_needless(steps, 37);
  EXPECT_THAT(steps, ElementsAre(0, 1, 2, 3, 0, 4));
  evictions.drop_needless(steps, 100);
  EXPECT_THAT(steps, ElementsAre(0, 1, 2, 3, 4));
}

TEST(OrderReruns, ValidStepsKeepPrecedencesAndVersions) {
  OrderInstance graph = across();
  graph.operators.push_back({.id = "u", .updates = {0}});
  const OrderTable table(graph);
  const Evictions evictions(table);
  EXPECT_TRUE(evictions.valid(std::vector<int>{0, 1, 2, 3, 0, 4, 5}));
  EXPECT_FALSE(evictions.valid(std::vector<int>{0, 1, 2, 3, 5, 0, 4}));
  EXPECT_FALSE(evictions.valid(std::vector<int>{0, 1, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(evictions.valid(std::vector<int>{1, 0, 2, 3, 4, 5}));
}

TEST(OrderReruns, TheSearchFindsTheLeastTime) {
  const OrderInstance graph = across();
  const OrderTable table(graph);
  RerunSearch search(table);
  const Budget budget;
  const auto wide = search.run(52, RerunSearch::kNoLimitMs, 1000, budget);
  EXPECT_EQ(wide.steps.size(), 5U);
  const auto tight = search.run(37, RerunSearch::kNoLimitMs, 1000, budget);
  ASSERT_EQ(tight.end, RerunSearch::End::found);
  EXPECT_THAT(tight.steps, ElementsAre(0, 1, 2, 3, 0, 4));
  EXPECT_NEAR(tight.bound_ms, 8, 1e-9);
  EXPECT_EQ(search.run(37, 8, 1000, budget).end, RerunSearch::End::none);
  const auto none = search.run(36, RerunSearch::kNoLimitMs, 1000, budget);
  EXPECT_EQ(none.end, RerunSearch::End::none);
  EXPECT_EQ(none.least_overflow, 37);
}

}  // namespace
}  // namespace stowage::order_reruns_test
