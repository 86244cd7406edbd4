// Heuristics of orders: valid on random graphs, deterministic, and one step of each by hand.
#include "heuristics/order/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "heuristics/order/order_lns.h"
#include "heuristics/order/orders.h"
#include "instances/order/generate/generate.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/verify/verify.h"
#include "tests/tiny_order.h"

namespace stowage::order_registry_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(OrderHeuristics, AreValidAndTheSameAgain) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const OrderInstance graph = tiny_order(seed, 12);
    const OrderTable table(graph);
    const Budget budget;
    for (const OrderHeuristic& heuristic : heuristics(graph)) {
      const auto plan = heuristic.run(graph, table, seed, budget);
      if (!plan) {
        EXPECT_TRUE(graph.capacity) << heuristic.name;
        continue;
      }
      for (const Violation& violation : verify(graph, *plan)) {
        ADD_FAILURE() << heuristic.name << seed << to_string(violation);
      }
      EXPECT_EQ(plan->order, heuristic.run(graph, table, seed, budget)->order) << heuristic.name;
    }
  }
}

TEST(OrderHeuristics, FastMakesAgainWhatTheCapacityAsksFor) {
  for (const auto kind : {OrderGenerator::Kind::vgg, OrderGenerator::Kind::unet}) {
    for (const double share : {1.0, 0.9, 0.8}) {
      const OrderInstance graph = *generate_order({.kind = kind, .capacity_share = share});
      const OrderTable table(graph);
      const Budget budget;
      const std::vector<OrderHeuristic> all = heuristics(graph);
      const auto fast = std::ranges::find(all, "fast", &OrderHeuristic::name);
      ASSERT_NE(fast, all.end());
      const auto plan = fast->run(graph, table, 0, budget);
      ASSERT_TRUE(plan) << graph.name;
      EXPECT_THAT(verify(graph, *plan), IsEmpty()) << graph.name;
      EXPECT_EQ(plan->order.size() > graph.operators.size(), share < 1) << graph.name;
    }
  }
}

// A and B make a, of 8 bytes, and b, of 2 bytes, of x; D makes one byte of a, C one of b.
OrderInstance small() {
  return {.tensors = {{.id = "x", .size = 4, .input = true},
                      {.id = "a", .size = 8},
                      {.id = "b", .size = 2},
                      {.id = "d", .size = 1, .output = true},
                      {.id = "c", .size = 1, .output = true}},
          .operators = {{.id = "A", .reads = {0}, .writes = {1}, .workspace = 2},
                        {.id = "B", .reads = {0}, .writes = {2}},
                        {.id = "D", .reads = {1}, .writes = {3}},
                        {.id = "C", .reads = {2}, .writes = {4}}}};
}

TEST(OrderHeuristics, StepsWorkedOutByHand) {
  const OrderInstance graph = small();
  const OrderTable table(graph);
  EXPECT_THAT(table.program_order(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(online_order(table), ElementsAre(0, 1, 2, 3));
  // B makes 2 and A 8; then C frees one byte in sum; A, the last to read x, makes 4 more.
  EXPECT_THAT(list_order(table), ElementsAre(1, 3, 0, 2));
  // From D: A and D, then B and C.
  EXPECT_THAT(depth_first_order(table), ElementsAre(0, 2, 1, 3));
  // After A, D fits below the peak of A and frees 7.
  EXPECT_THAT(commit_order(table, table.program_order()), ElementsAre(0, 2, 1, 3));
  EXPECT_EQ(peak_of(table, table.program_order()), 14);     // x, a and the workspace of A
  EXPECT_EQ(peak_of(table, depth_first_order(table)), 14);  // likewise
  EXPECT_EQ(peak_of(table, list_order(table)), 15);         // and c
}

TEST(OrderHeuristics, OnlineIsFirstComeFirstServed) {
  // 0 makes 2 ready, 1 makes 3 ready; the list has 3 before 2 as index, but 2 came first.
  const OrderInstance graph{.operators = {{}, {}, {.after = {1}}, {.after = {0}}}};
  EXPECT_THAT(online_order(OrderTable(graph)), ElementsAre(0, 1, 3, 2));
  EXPECT_THAT(OrderTable(graph).program_order(), ElementsAre(0, 1, 2, 3));
}

TEST(OrderWindows, NeverMakeItWorseAndKeepPrecedences) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto graph =
        generate_order({.kind = OrderGenerator::Kind::layered, .operators = 60, .seed = seed});
    const OrderTable table(*graph);
    std::vector<int> order = online_order(table);
    const Bytes before = peak_of(table, order);
    const Budget budget;
    OrderLns(table).improve(order, {.states = 300, .widest = 32}, budget);
    EXPECT_LE(peak_of(table, order), before);
    OrderPlan plan{.peak_bytes = peak_of(table, order), .order = {order.begin(), order.end()}};
    EXPECT_THAT(verify(*graph, plan), IsEmpty());
  }
}

}  // namespace
}  // namespace stowage::order_registry_test
