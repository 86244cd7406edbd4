// Orders and the offsets of their tensors: they are valid, never worse, and reach the optimum over
// all orders of tiny graphs.
#include "solvers/memory/arrangement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "instances/order/generate/generate.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "instances/verify.h"
#include "solvers/memory/order_layout.h"
#include "solvers/memory/solve_with_layout.h"
#include "solvers/solve.h"
#include "tests/every_order.h"
#include "tests/tiny_host.h"
#include "tests/tiny_order.h"
#include "tests/tiny_rerun.h"

namespace stowage::arrangement_test {
namespace {

using ::testing::IsEmpty;

template <class Plan>
std::optional<Plan> solved(const InstanceView& instance, std::int64_t nodes) {
  Budget budget({.node_limit = nodes});
  const Outcome outcome = solve(instance, {}, budget);
  if (!outcome.plan) return std::nullopt;
  return std::get<Plan>(*outcome.plan);
}

Arrangement arranged(const OrderInstance& graph, const OrderPlan& plan, std::int64_t nodes) {
  Budget budget({.node_limit = nodes});
  return arrange(graph, plan, {}, budget);
}

void expect_valid(const OrderInstance& graph, const Arrangement& found) {
  EXPECT_THAT(verify(graph, found.order), IsEmpty()) << graph.name;
  EXPECT_EQ(found.buffers, order_layout(graph, found.order)) << graph.name;
  ASSERT_TRUE(found.layout) << graph.name;
  EXPECT_THAT(verify(found.buffers, *found.layout), IsEmpty()) << graph.name;
  EXPECT_EQ(found.layout->peak_bytes, found.needed_bytes) << graph.name;
}

// Returns the least memory of the tensors over all orders with a peak of at most `most`.
Bytes least_of_all_orders(const OrderInstance& graph, Bytes most) {
  const OrderTable table(graph);
  Bytes least = kMaxExact;
  every_order(table, [&](const std::vector<int>& order) {
    if (peak_of(table, order) > most) return;
    LayoutInstance buffers = order_layout(graph, compose_order(graph, table, order));
    buffers.capacity.reset();
    least = std::min(least, solved<LayoutPlan>(buffers, 100'000)->peak_bytes);
  });
  return least;
}

Bytes least_of_program_order(const OrderInstance& graph) {
  const OrderTable table(graph);
  return peak_of(table, table.program_order());
}

// One search over all steps finds no such layout for any of the orders that the nodes allow.
TEST(Arrangement, LaysHillsOutOneAfterTheOther) {
  int reached = 0;
  for (const std::uint64_t seed : {22, 23}) {
    const OrderInstance graph =
        *generate_order({.kind = OrderGenerator::Kind::layered, .operators = 300, .seed = seed});
    const auto plan = solved<OrderPlan>(graph, 200'000);
    const Arrangement found = arranged(graph, *plan, 200'000);
    expect_valid(graph, found);
    EXPECT_EQ(found.layout->bound_by, "load");
    if (found.needed_bytes == plan->peak_bytes) ++reached;
  }
  EXPECT_GT(reached, 0);
}

TEST(Arrangement, OfTinyGraphsIsTheBestOfAllOrders) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    OrderInstance graph = tiny_order(seed, 6, false);
    const auto plan = solved<OrderPlan>(graph, 100'000);
    ASSERT_TRUE(plan) << seed;
    const Arrangement found = arranged(graph, *plan, 100'000);
    expect_valid(graph, found);
    EXPECT_LE(found.order.peak_bytes, plan->peak_bytes) << seed;
    EXPECT_EQ(found.needed_bytes, least_of_all_orders(graph, plan->peak_bytes)) << seed;
  }
}

TEST(Arrangement, OfLayeredGraphsNeedsNoMoreThanTheOrder) {
  int gained = 0;
  for (const std::uint64_t seed : {22, 23}) {
    const OrderInstance graph = *generate_order(
        {.kind = OrderGenerator::Kind::layered_local, .operators = 200, .seed = seed});
    const auto plan = solved<OrderPlan>(graph, 100'000);
    const Arrangement found = arranged(graph, *plan, 1'000'000);
    expect_valid(graph, found);
    EXPECT_EQ(found.needed_bytes, plan->peak_bytes) << seed;
    const auto first = solved<LayoutPlan>(order_layout(graph, *plan), 50'000);
    gained += static_cast<int>(first->peak_bytes > found.needed_bytes);
    EXPECT_EQ(found.order.bound_bytes, plan->bound_bytes) << seed;
    const Arrangement again = arranged(graph, *plan, 1'000'000);
    EXPECT_EQ(again.order, found.order);
    EXPECT_EQ(again.layout, found.layout);
  }
  EXPECT_GT(gained, 0);
}

// Recomputation and transfers are part of the plan, so the order does not change.
TEST(Arrangement, KeepsOrdersWithRunsAgainAndTransfers) {
  int kept = 0;
  const auto keeps = [&](const OrderInstance& graph) {
    const auto plan = solved<OrderPlan>(graph, 10'000);
    if (!plan || (plan->transfers.empty() && plan->order.size() == graph.operators.size())) return;
    const Arrangement found = arranged(graph, *plan, 100'000);
    EXPECT_EQ(found.order, *plan) << graph.name;
    EXPECT_EQ(found.orders, 1) << graph.name;
    if (found.layout) expect_valid(graph, found);
    ++kept;
  };
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    keeps(tiny_rerun(seed, 6));
    keeps(tiny_host(seed));
  }
  EXPECT_GT(kept, 20);
}

TEST(Arrangement, WithoutRoomThereIsNoLayoutButWhatItNeeds) {
  OrderInstance graph =
      *generate_order({.kind = OrderGenerator::Kind::layered, .operators = 200, .seed = 3});
  const auto plan = solved<OrderPlan>(graph, 100'000);
  graph.capacity = plan->peak_bytes;
  const auto within = solved<OrderPlan>(graph, 100'000);
  ASSERT_TRUE(within);
  Budget budget({.time_limit_s = 0});
  const Arrangement found = arrange(graph, *within, {}, budget);
  EXPECT_EQ(found.stopped_by, StoppedBy::time_limit);
  EXPECT_EQ(found.order, *within);
  EXPECT_GT(found.needed_bytes.value_or(0), *graph.capacity);
  EXPECT_FALSE(found.layout);
}

TEST(Arrangement, WhatNoLayoutMayHoldIsSaid) {
  OrderInstance graph;
  graph.operators.assign(4, OrderOperator{.workspace = Bytes{1} << 52});
  const auto plan = solved<OrderPlan>(graph, 1000);
  ASSERT_TRUE(plan);
  const Arrangement found = arranged(graph, *plan, 1000);
  EXPECT_FALSE(found.layout);
  EXPECT_FALSE(found.needed_bytes);
  EXPECT_EQ(found.orders, 0);
  EXPECT_THAT(found.detail, ::testing::HasSubstr("cannot be laid out"));
}

// A chain has one order, which is laid out only once.
TEST(Arrangement, OfAChainIsOneOrder) {
  OrderInstance graph =
      *generate_order({.kind = OrderGenerator::Kind::layered, .operators = 40, .seed = 5});
  const auto plan = solved<OrderPlan>(graph, 100'000);
  for (std::size_t k = 1; k < plan->order.size(); ++k) {
    graph.operators[at(plan->order[k])].after.push_back(plan->order[k - 1]);
  }
  const auto chained = solved<OrderPlan>(graph, 100'000);
  const Arrangement found = arranged(graph, *chained, 300'000);
  expect_valid(graph, found);
  EXPECT_EQ(found.orders, 1);
}

// The sum of the times is the plan's for every order of the operators.
TEST(Arrangement, OfTheLeastTimeStaysWithinTheCapacity) {
  OrderInstance graph =
      *generate_order({.kind = OrderGenerator::Kind::layered_local, .operators = 100, .seed = 22});
  graph.objective = OrderObjective::time;
  graph.capacity = least_of_program_order(graph);
  for (std::size_t k = 0; k < graph.operators.size(); ++k) {
    graph.operators[k].ms = 0.1 * static_cast<double>(k % 7);
  }
  const auto plan = solved<OrderPlan>(graph, 100'000);
  ASSERT_TRUE(plan);
  const Arrangement found = arranged(graph, *plan, 2'000'000);
  expect_valid(graph, found);
  EXPECT_EQ(found.order.time_ms, plan->time_ms);
  EXPECT_EQ(found.stopped_by, StoppedBy::gap);
}

TEST(Arrangement, OfManyLengthsIsThatOfTheLongest) {
  OrderInstance graph = tiny_order(7, 6, false);
  graph.tokens = LengthRange{1, 5};
  for (OrderTensor& tensor : graph.tensors) tensor.size_per_token = 1;
  const auto plan = solved<OrderPlan>(graph, 10'000);
  ASSERT_TRUE(plan);
  const Arrangement found = arranged(graph, *plan, 10'000);
  expect_valid(graph, found);
  EXPECT_EQ(found.order, *plan);
  EXPECT_EQ(found.orders, 1);
}

TEST(Arrangement, OfNothing) {
  const OrderInstance graph;
  const auto plan = solved<OrderPlan>(graph, 1000);
  ASSERT_TRUE(plan);
  const Arrangement found = arranged(graph, *plan, 1000);
  ASSERT_TRUE(found.layout);
  EXPECT_EQ(found.layout->peak_bytes, 0);
}

// The outcome is that of the order, the arrangement that of its plan, and both repeat.
TEST(SolveWithLayout, GivesTheOutcomeAndTheArrangement) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const OrderInstance graph = seed % 2 == 0 ? tiny_order(seed, 8, false) : tiny_rerun(seed, 8);
    const Budget::Limits limits{.node_limit = 20'000};
    const ArrangedOutcome found = solve_with_layout(graph, {}, limits);
    EXPECT_EQ(found.arrangement.has_value(), found.outcome.plan.has_value()) << seed;
    if (!found.arrangement) continue;
    const auto& plan = std::get<OrderPlan>(*found.outcome.plan);
    EXPECT_EQ(plan, found.arrangement->order) << seed;
    EXPECT_EQ(*found.outcome.objective, objective_of(plan)) << seed;
    if (!found.arrangement->layout) {
      EXPECT_TRUE(graph.capacity) << seed;
      continue;
    }
    expect_valid(graph, *found.arrangement);
    const ArrangedOutcome again = solve_with_layout(graph, {}, limits);
    EXPECT_EQ(*again.outcome.plan, *found.outcome.plan) << seed;
    EXPECT_EQ(again.arrangement->layout->offsets, found.arrangement->layout->offsets) << seed;
  }
}

TEST(SolveWithLayout, WithoutAPlanThereIsNoArrangement) {
  OrderInstance graph = tiny_order(3, 8, false);
  graph.capacity = 0;
  const ArrangedOutcome found = solve_with_layout(graph, {}, {.node_limit = 1000});
  EXPECT_EQ(found.outcome.status, Status::infeasible);
  EXPECT_FALSE(found.arrangement);
}

}  // namespace
}  // namespace stowage::arrangement_test
