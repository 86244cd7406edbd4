// Outputs in the memory of tensors that end at their operator: documents, rules, counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "instances/check.h"
#include "instances/order/json/json.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "instances/order/planning_table.h"
#include "instances/order/verify/exhaustive_check.h"
#include "instances/order/verify/verify.h"
#include "tests/long_run.h"
#include "tests/oracles/order/brute_force.h"
#include "tests/tiny_order.h"

namespace stowage::order_in_place_test {
namespace {

// x -> f -> a -> g -> b -> h -> y, where b may lie on a, and y on b; s is a second reader of a.
OrderInstance chain() {
  return {.name = "chain",
          .tensors = {{.id = "x", .size = 8, .input = true},
                      {.id = "a", .size = 8},
                      {.id = "b", .size = 8},
                      {.id = "y", .size = 8, .output = true},
                      {.id = "z", .size = 1, .output = true}},
          .operators = {{.id = "f", .reads = {0}, .writes = {1}, .in_place = {0}},
                        {.id = "g", .reads = {1}, .writes = {2}, .in_place = {1}},
                        {.id = "h", .reads = {2}, .writes = {3}, .in_place = {2}},
                        {.id = "s", .reads = {1}, .writes = {4}}}};
}

OrderPlan plan_of(const OrderInstance& graph, const std::vector<int>& order) {
  OrderPlan plan = compose_order(graph, OrderTable(graph), order);
  plan.instance_hash = instance_hash(graph);
  return plan;
}

std::vector<std::string> rules_of(const OrderInstance& graph, const OrderPlan& plan) {
  std::vector<std::string> rules;
  for (const Violation& violation : verify(graph, plan)) rules.emplace_back(violation.rule);
  return rules;
}

using Rules = std::vector<std::string>;

// An operator whose output lies on its input needs no memory for the output.
TEST(OrderInPlace, AProofOfAnOperatorCountsTheOutputOnItsInput) {
  OrderInstance graph = chain();
  const InfeasibilityProof first{.by = "operator", .witnesses = {0}};
  for (const Bytes capacity : {7, 8, 15, 16, 23, 24, 32}) {
    graph.capacity = capacity;
    EXPECT_EQ(check_infeasibility(graph, first).empty(), capacity < 8) << capacity;
  }
}

TEST(OrderInPlace, CountsByHand) {
  const OrderInstance graph = chain();
  // s first: every output lies on its input, and z is beside them.
  const OrderPlan early = plan_of(graph, {0, 3, 1, 2});
  EXPECT_EQ(early.peak_bytes, 9);
  EXPECT_EQ(early.in_place, (std::vector<OrderReuse>{{1, 0}, {2, 1}, {3, 2}}));
  EXPECT_EQ(rules_of(graph, early), Rules());
  // s last: a is needed behind g, so that b has memory of its own.
  const OrderPlan late = plan_of(graph, {0, 1, 2, 3});
  EXPECT_EQ(late.peak_bytes, 17);
  EXPECT_EQ(late.in_place, (std::vector<OrderReuse>{{1, 0}, {3, 2}}));
  EXPECT_EQ(rules_of(graph, late), Rules());
}

TEST(OrderInPlace, EachRuleIsBrokenAlone) {
  const OrderInstance graph = chain();
  OrderPlan good = plan_of(graph, {0, 1, 2, 3});
  const auto with = [&](std::vector<OrderReuse> reuses) {
    OrderPlan plan = good;
    plan.in_place = std::move(reuses);
    return rules_of(graph, plan);
  };
  EXPECT_EQ(with({{1, 0}, {2, 1}, {3, 2}}), Rules{"in_place"});  // a is needed later
  EXPECT_EQ(with({{1, 0}, {1, 0}, {3, 2}}), Rules{"in_place"});  // twice
  EXPECT_EQ(with({{1, 0}, {3, 2}, {4, 1}}), Rules{"in_place"});  // not in the operator's list
  EXPECT_EQ(with({{1, 0}, {3, 2}, {0, 1}}), Rules{"in_place"});  // an input
  EXPECT_EQ(with({{1, 0}, {3, 5}}), Rules{"in_place"});          // no tensor
  EXPECT_EQ(with({{1, 0}, {-1, 2}}), Rules{"in_place"});         // no tensor
  EXPECT_EQ(with({{3, 2}}), Rules());        // a has memory of its own; the peak is elsewhere
  EXPECT_EQ(with({{1, 0}}), Rules{"peak"});  // y has memory of its own beside a and b
  good = plan_of(graph, {0, 3, 1, 2});
  EXPECT_EQ(with({{1, 0}, {3, 2}}), Rules{"peak"});
}

// Two outputs of one size cannot both lie on one tensor.
TEST(OrderInPlace, ATensorGivesItsMemoryOnce) {
  OrderInstance graph = {
      .tensors = {{.id = "x", .size = 4, .input = true},
                  {.id = "a", .size = 4, .output = true},
                  {.id = "b", .size = 4, .output = true}},
      .operators = {{.id = "f", .reads = {0}, .writes = {1, 2}, .in_place = {0}}}};
  OrderPlan plan = plan_of(graph, {0});
  EXPECT_EQ(plan.peak_bytes, 8);
  EXPECT_EQ(plan.in_place, (std::vector<OrderReuse>{{1, 0}}));
  EXPECT_EQ(rules_of(graph, plan), Rules());
  plan.in_place.push_back({2, 0});
  EXPECT_EQ(rules_of(graph, plan), Rules{"in_place"});
  plan.in_place = {{2, 0}};
  EXPECT_EQ(rules_of(graph, plan), Rules());
  // Sizes that differ by less than the alignment are the same.
  graph.tensors[1].size = 3;
  graph.alignment = 4;
  EXPECT_EQ(plan_of(graph, {0}).in_place, (std::vector<OrderReuse>{{1, 0}}));
}

TEST(OrderInPlace, DocumentsHoldIt) {
  const OrderInstance graph = chain();
  const auto again = read_order_instance(write_order_instance(graph));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, graph);
  const OrderPlan plan = plan_of(graph, {0, 3, 1, 2});
  const auto plan_again = read_order_plan(write_order_plan(plan));
  ASSERT_TRUE(plan_again);
  EXPECT_EQ(*plan_again, plan);
  OrderInstance without = graph;
  for (OrderOperator& op : without.operators) op.in_place.clear();
  EXPECT_NE(instance_hash(graph), instance_hash(without));
  EXPECT_EQ(write_order_plan(plan_of(without, {0, 3, 1, 2})).find("in_place"), std::string::npos);
}

// The planner's count, the verifier's and brute force agree, and no need of the table is more than
// that of any order.
TEST(OrderInPlace, CountsAgreeOnRandomGraphs) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(1000, 20'000));
  std::int64_t reused = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const OrderInstance graph = tiny_in_place_order(seed, 7);
    ASSERT_TRUE(check(graph).empty()) << seed;
    const OrderTable table(graph);
    const OrderPlan plan = plan_of(graph, table.program_order());
    EXPECT_EQ(rules_of(graph, plan), Rules()) << seed;
    const std::vector<Bytes> needs = needs_of(table, table.program_order());
    OrderMemory memory(table);
    for (std::size_t k = 0; k < needs.size(); ++k) {
      EXPECT_LE(memory.need(table.program_order()[k]), needs[k]) << seed;
      memory.run(table.program_order()[k]);
    }
    EXPECT_EQ(least_peak(graph), brute_force(graph)->peak_bytes) << seed;
    reused += std::ssize(plan.in_place);
  }
  EXPECT_GT(reused, static_cast<std::int64_t>(seeds) / 3);
}

}  // namespace
}  // namespace stowage::order_in_place_test
