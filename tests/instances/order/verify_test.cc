// Each rule of the verifier of orders, kept and broken; proofs that there is no order.
#include "instances/order/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "instances/order/json/json.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "instances/order/planning_table.h"
#include "instances/verify.h"
#include "tests/instances/draw.h"
#include "tests/tiny_order.h"

namespace stowage::order_verify_test {
namespace {

using ::testing::IsEmpty;

// x -> f -> a -> g -> y, and w, which h updates once f has read it and before g reads it.
OrderInstance graph() {
  return {.name = "g",
          .capacity = 100,
          .tensors = {{.id = "x", .size = 10, .input = true},
                      {.id = "w", .size = 5, .input = true, .output = true},
                      {.id = "a", .size = 20},
                      {.id = "y", .size = 4, .output = true}},
          .operators = {{.id = "f", .reads = {0, 1}, .writes = {2}, .workspace = 3},
                        {.id = "h", .reads = {0}, .updates = {1}},
                        {.id = "g", .reads = {2, 1}, .writes = {3}}}};
}

OrderPlan plan() {
  // Step 0: 10 + 5 live, 20 made, 3 workspace; then 35, then 25 + 4.
  return {.name = "g",
          .instance_hash = instance_hash(graph()),
          .peak_bytes = 38,
          .bound_bytes = 38,
          .bound_by = "operator",
          .order = {0, 1, 2}};
}

// The rules that the changed plan breaks, each once.
template <class Change>
std::vector<std::string> broken(Change change) {
  OrderInstance instance = graph();
  OrderPlan its = plan();
  change(instance, its);
  std::vector<std::string> rules;
  for (const Violation& violation : verify(instance, its)) rules.push_back(violation.rule);
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

using Rules = std::vector<std::string>;

TEST(OrderVerify, AValidPlanBreaksNoRule) {
  EXPECT_THAT(verify(graph(), plan()), IsEmpty());
  EXPECT_THAT(verify(Instance(graph()), Plan(plan())), IsEmpty());
}

TEST(OrderVerify, EachRuleIsBrokenAlone) {
  EXPECT_EQ(broken([](auto&, auto& p) { p.order.pop_back(); }), Rules{"once"});
  EXPECT_EQ(broken([](auto&, auto& p) { p.order = {0, 1, 2, 2}; }), Rules{"once"});
  EXPECT_EQ(broken([](auto&, auto& p) { p.order = {0, 1, 3}; }), Rules{"once"});
  EXPECT_EQ(broken([](auto&, auto& p) { p.order = {0, -1, 2}; }), Rules{"once"});
  EXPECT_EQ(broken([](auto& i, auto&) { i.capacity = 37; }), Rules{"capacity"});
  EXPECT_EQ(broken([](auto&, auto& p) { p.peak_bytes = 39; }), Rules{"peak"});
  EXPECT_EQ(broken([](auto&, auto& p) { p.bound_bytes = 39; }), Rules{"bound"});
  EXPECT_EQ(broken([](auto&, auto& p) { p.bound_bytes = -1; }), Rules{"bound"});
  EXPECT_EQ(broken([](auto&, auto& p) { p.bound_by.clear(); }), Rules{"bound"});
  OrderPlan other = plan();
  other.instance_hash = "x";
  EXPECT_EQ(verify_instance_hash(other, instance_hash(graph())).size(), 1U);
  EXPECT_THAT(verify_instance_hash(plan(), instance_hash(graph())), IsEmpty());
}

TEST(OrderVerify, EveryKindOfPrecedenceIsSeen) {
  const auto order = [](std::vector<std::int64_t> steps, Bytes peak) {
    return broken([&](auto&, auto& p) {
      p.order = std::move(steps);
      p.peak_bytes = peak;
    });
  };
  // h before f reads the old contents: 15 live, then 38 while f runs.
  EXPECT_EQ(order({1, 0, 2}, 38), Rules{"precedence"});
  // g before h, whose new contents it needs: 29 + 10 live of x.
  EXPECT_EQ(order({0, 2, 1}, 39), Rules{"precedence"});
  // g runs before f, which writes g's input: a is never freed and never counted twice.
  const Rules rules = broken([](auto&, auto& p) { p.order = {1, 2, 0}; });
  EXPECT_TRUE(std::ranges::find(rules, "precedence") != rules.end());
  OrderInstance graph_after{.tensors = {}, .operators = {{.id = "a", .after = {1}}, {.id = "b"}}};
  EXPECT_EQ(verify(graph_after, {.order = {0, 1}}).size(), 1U);
  EXPECT_THAT(verify(graph_after, {.order = {1, 0}}), IsEmpty());
}

// x -> f -> a, which g and h read, far apart: a of 20 bytes lives across m, or is recomputed.
OrderInstance again_graph() {
  return {.capacity = 40,
          .objective = OrderObjective::time,
          .tensors = {{.id = "x", .size = 5, .input = true},
                      {.id = "a", .size = 20},
                      {.id = "b", .size = 2},
                      {.id = "c", .size = 30},
                      {.id = "d", .size = 1},
                      {.id = "y", .size = 1, .output = true}},
          .operators = {{.id = "f", .reads = {0}, .writes = {1}, .ms = 2, .recompute = true},
                        {.id = "g", .reads = {1}, .writes = {2}, .ms = 1},
                        {.id = "m", .reads = {2}, .writes = {3}, .ms = 1},
                        {.id = "n", .reads = {3}, .writes = {4}, .ms = 1},
                        {.id = "h", .reads = {1, 4, 0}, .writes = {5}, .ms = 1}}};
}

OrderPlan again_plan() {
  return {.peak_bytes = 37,
          .time_ms = 8,
          .bound_ms = 8,
          .bound_by = "search",
          .order = {0, 1, 2, 3, 0, 4}};
}

template <class Change>
std::vector<std::string> broken_again(Change change) {
  OrderInstance instance = again_graph();
  OrderPlan its = again_plan();
  change(instance, its);
  std::vector<std::string> rules;
  for (const Violation& violation : verify(instance, its)) rules.push_back(violation.rule);
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

TEST(OrderVerify, ARunAgainMakesItsTensorsAnew) {
  EXPECT_THAT(verify(again_graph(), again_plan()), IsEmpty());
  // Without recomputation a lives across m: 5 + 20 + 2 + 30.
  EXPECT_EQ(broken_again([](auto& i, auto& p) {
              p.order = {0, 1, 2, 3, 4};
              p.time_ms = p.bound_ms = 6;
              p.peak_bytes = 57;
              i.capacity.reset();
            }),
            Rules{});
  EXPECT_EQ(broken_again([](auto&, auto& p) {
              p.order = {0, 1, 2, 3, 4};
              p.time_ms = p.bound_ms = 6;
              p.peak_bytes = 57;
            }),
            Rules{"capacity"});
  EXPECT_EQ(broken_again([](auto& i, auto&) { i.operators[0].recompute = false; }), Rules{"once"});
  EXPECT_EQ(broken_again([](auto&, auto& p) { p.peak_bytes = 36; }), Rules{"peak"});
  EXPECT_EQ(broken_again([](auto&, auto& p) { p.time_ms = p.bound_ms = 6; }), Rules{"time_ms"});
  EXPECT_EQ(broken_again([](auto&, auto& p) {
              p.time_ms.reset();
              p.bound_ms = 0;
            }),
            Rules{"time_ms"});
  EXPECT_EQ(broken_again([](auto&, auto& p) { p.bound_ms = 8.1; }), Rules{"bound"});
  EXPECT_EQ(broken_again([](auto&, auto& p) { p.bound_bytes = 1; }), Rules{"bound"});
  EXPECT_EQ(broken_again([](auto&, auto& p) { p.bound_by.clear(); }), Rules{"bound"});
  const auto peak = [](auto& i, auto& p) {
    i.objective = OrderObjective::peak;
    p.time_ms.reset();
    p.bound_ms = 0;
    p.bound_bytes = 37;
  };
  EXPECT_EQ(broken_again(peak), Rules{});
  EXPECT_EQ(broken_again([&](auto& i, auto& p) {
              peak(i, p);
              p.time_ms = 8;
            }),
            Rules{"time_ms"});
  EXPECT_EQ(broken_again([&](auto& i, auto& p) {
              peak(i, p);
              p.bound_ms = 8;
            }),
            Rules{"bound"});
}

// A recomputed output stays from its last run on; an input needs memory until its last use.
TEST(OrderVerify, OutputsStayFromTheirLastRunOn) {
  const OrderInstance graph{
      .tensors = {{.size = 4, .input = true}, {.size = 8, .output = true}, {.size = 6}},
      .operators = {{.reads = {0}, .writes = {1}, .recompute = true},
                    {.reads = {0}, .writes = {2}, .recompute = true}}};
  EXPECT_THAT(verify(graph, {.peak_bytes = 18, .order = {0, 1}}), IsEmpty());
  EXPECT_THAT(verify(graph, {.peak_bytes = 12, .order = {0, 1, 0}}), IsEmpty());
}

// An update must not have changed the tensors that a repeated run reads or writes.
TEST(OrderVerify, ARunAgainSeesWhatTheFirstOneSaw) {
  OrderInstance graph{.tensors = {{.size = 1, .input = true, .output = true},
                                  {.size = 2},
                                  {.size = 3, .output = true}},
                      .operators = {{.id = "f", .reads = {0}, .writes = {1}, .recompute = true},
                                    {.id = "u", .updates = {0}},
                                    {.id = "g", .reads = {1}, .writes = {2}}}};
  EXPECT_THAT(verify(graph, {.peak_bytes = 6, .order = {0, 0, 1, 2}}), IsEmpty());
  const auto late = verify(graph, {.peak_bytes = 6, .order = {0, 1, 0, 2}});
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late.front().rule, "precedence");
  // The same for its output: u changes a itself.
  graph.operators[1] = {.id = "u", .updates = {1}};
  EXPECT_THAT(verify(graph, {.peak_bytes = 6, .order = {0, 0, 1, 2}}), IsEmpty());
  EXPECT_EQ(verify(graph, {.peak_bytes = 6, .order = {0, 1, 0, 2}}).front().rule, "precedence");
}

TEST(OrderVerify, SizesCountRoundedUp) {
  OrderInstance aligned = graph();
  aligned.alignment = 8;
  OrderPlan its = plan();
  its.peak_bytes = 16 + 8 + 24 + 8;
  EXPECT_THAT(verify(aligned, its), IsEmpty());
}

// An input without readers stays; another tensor without readers is freed after its operator.
TEST(OrderVerify, WhatNobodyReadsCountsAsThePageSays) {
  const OrderInstance instance{
      .tensors = {{.size = 7, .input = true}, {.size = 5}, {.size = 3, .output = true}},
      .operators = {{.writes = {1}}, {.writes = {2}}}};
  OrderPlan its{.peak_bytes = 12, .order = {0, 1}};
  EXPECT_THAT(verify(instance, its), IsEmpty());
  its = {.peak_bytes = 15, .order = {1, 0}};
  EXPECT_THAT(verify(instance, its), IsEmpty());
}

// The planners' and the verifier's accounts agree on random orders; invalid orders are detected.
TEST(OrderVerify, AgreesWithTheTableOnRandomOrders) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const OrderInstance instance = tiny_order(seed, 9, false);
    const OrderTable table(instance);
    Draw draw(seed);
    std::vector<int> order;
    OrderMemory memory(table);
    while (std::ssize(order) < table.operators()) {
      const auto op = static_cast<int>(draw.below(static_cast<std::size_t>(table.operators())));
      if (!memory.ready(op)) continue;
      memory.run(op);
      order.push_back(op);
    }
    EXPECT_EQ(memory.live(), table.at_end()) << seed;
    const OrderPlan its = compose_order(instance, table, order);
    EXPECT_THAT(verify(instance, its), IsEmpty()) << seed;
    OrderPlan swapped = its;
    if (order.size() < 2) continue;
    const std::size_t k = draw.below(order.size() - 1);
    std::swap(swapped.order[k], swapped.order[k + 1]);
    const auto before = table.before(order[k + 1]);
    const bool breaks = std::ranges::find(before, order[k]) != before.end();
    const std::vector<Violation> found = verify(instance, swapped);
    const bool seen = !found.empty() && found.front().rule == "precedence";
    EXPECT_EQ(seen, breaks) << seed;
  }
}

TEST(OrderInfeasibility, ProofsHoldOnlyAgainstTheCapacity) {
  OrderInstance instance = graph();
  instance.capacity = 37;
  const InfeasibilityProof proof{.by = "operator", .witnesses = {0}};
  EXPECT_THAT(check_infeasibility(instance, proof), IsEmpty());
  instance.capacity = 38;
  EXPECT_EQ(check_infeasibility(instance, proof).front().rule, kInfeasibility);
  instance.capacity.reset();
  EXPECT_EQ(check_infeasibility(instance, proof).front().rule, kInfeasibility);
  instance.capacity = 14;
  EXPECT_THAT(check_infeasibility(instance, {.by = "ends"}), IsEmpty());
  instance.capacity = 15;
  EXPECT_EQ(check_infeasibility(instance, {.by = "ends"}).front().rule, kInfeasibility);
  EXPECT_EQ(check_infeasibility(instance, {.by = "operator", .witnesses = {3}}).front().rule,
            kInfeasibilityWitness);
  EXPECT_EQ(check_infeasibility(instance, {.by = "operator"}).front().rule, kInfeasibility);
  EXPECT_EQ(check_infeasibility(instance, {.by = "load"}).front().rule, kInfeasibilityBy);
  EXPECT_THAT(check_infeasibility(instance, {}), IsEmpty());
}

}  // namespace
}  // namespace stowage::order_verify_test
