// Each rule of the verifier of orders, kept and broken; proofs that there is no order.
#include "instances/order/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "instances/order/compose.h"
#include "instances/order/json.h"
#include "instances/order/memory.h"
#include "instances/order/table.h"
#include "instances/verify.h"
#include "tests/instances/draw.h"
#include "tests/tiny_order.h"

namespace stowage {
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
  // g before f, which writes what it reads: a is never freed and never counted twice.
  const Rules rules = broken([](auto&, auto& p) { p.order = {1, 2, 0}; });
  EXPECT_TRUE(std::ranges::find(rules, "precedence") != rules.end());
  OrderInstance graph_after{.tensors = {}, .operators = {{.id = "a", .after = {1}}, {.id = "b"}}};
  EXPECT_EQ(verify(graph_after, {.order = {0, 1}}).size(), 1U);
  EXPECT_THAT(verify(graph_after, {.order = {1, 0}}), IsEmpty());
}

TEST(OrderVerify, SizesCountRoundedUp) {
  OrderInstance aligned = graph();
  aligned.alignment = 8;
  OrderPlan its = plan();
  its.peak_bytes = 16 + 8 + 24 + 8;
  EXPECT_THAT(verify(aligned, its), IsEmpty());
}

// An input that nobody reads stays; a tensor that nobody reads is gone after its operator.
TEST(OrderVerify, WhatNobodyReadsCountsAsThePageSays) {
  const OrderInstance instance{
      .tensors = {{.size = 7, .input = true}, {.size = 5}, {.size = 3, .output = true}},
      .operators = {{.writes = {1}}, {.writes = {2}}}};
  OrderPlan its{.peak_bytes = 12, .order = {0, 1}};
  EXPECT_THAT(verify(instance, its), IsEmpty());
  its = {.peak_bytes = 15, .order = {1, 0}};
  EXPECT_THAT(verify(instance, its), IsEmpty());
}

// The planners' count and the verifier's agree on random orders; broken orders are seen.
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
}  // namespace stowage
