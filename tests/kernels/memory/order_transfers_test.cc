// Executed training steps with transfers to a host: the bits of program order, at separate offsets
// after each return.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/order/generate/generate.h"
#include "instances/order/verify/verify.h"
#include "kernels/memory/order_execution.h"
#include "kernels/memory/recorded_order.h"
#include "solvers/memory/order_layout.h"
#include "solvers/solve.h"

namespace stowage::kernels::memory_order_transfers_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr RecordedBlock kSmall = {
    .hidden = 24, .heads = 2, .kv_heads = 1, .head_dim = 8, .ffn = 20, .layers = 2};

OrderInstance recorded(std::vector<Tokens> lengths, double share, double rate) {
  RecordedBlock block = kSmall;
  block.lengths = std::move(lengths);
  OrderInstance graph = *record_order({.block = std::move(block)}, 64, share);
  add_host(rate, std::nullopt, graph);
  return graph;
}

template <class Plan, class Instance>
Plan solved(const Instance& instance, const std::string& method) {
  Budget budget({.node_limit = 2000});
  const Outcome outcome = solve(instance, {.method = method}, budget);
  EXPECT_TRUE(outcome.plan) << method << ' ' << outcome.detail;
  return std::get<Plan>(*outcome.plan);
}

LayoutPlan laid_out(const LayoutInstance& buffers) {
  LayoutInstance free = buffers;
  free.capacity.reset();
  return solved<LayoutPlan>(free, "auto");
}

TEST(OrderTransfersExecution, WhatWasOnTheHostHasItsBits) {
  std::int64_t transfers = 0;
  for (const double share : {0.9, 0.8, 0.7}) {
    for (const double rate : {1e5, 1e7}) {
      const OrderInstance graph = recorded({9, 17}, share, rate);
      SCOPED_TRACE(graph.name);
      const Result<TrainingProgram> program = recorded_training(graph);
      ASSERT_TRUE(program) << to_string(program.errors()[0]);
      const auto plan = solved<OrderPlan>(graph, "offload");
      ASSERT_THAT(verify(graph, plan), IsEmpty());
      const LayoutPlan layout = laid_out(order_layout(graph, plan));
      const OrderExecution done = execute_order(graph, *program, plan, layout.offsets, 3, nullptr);
      EXPECT_TRUE(done.passed());
      EXPECT_THAT(done.problems.list(), IsEmpty());
      EXPECT_EQ(done.transfers, std::ssize(plan.transfers));
      EXPECT_EQ(done.high_water_bytes, layout.peak_bytes);
      EXPECT_GT(done.weight.compared, 0);
      transfers += done.transfers;
    }
  }
  EXPECT_GT(transfers, 20);
}

TEST(OrderTransfersExecution, WrongTransfersShow) {
  const OrderInstance graph = recorded({9, 17}, 0.75, 1e7);
  const Result<TrainingProgram> program = recorded_training(graph);
  ASSERT_TRUE(program);
  const auto plan = solved<OrderPlan>(graph, "offload");
  ASSERT_THAT(plan.transfers, ::testing::Not(IsEmpty()));
  const LayoutInstance buffers = order_layout(graph, plan);
  const LayoutPlan layout = laid_out(buffers);
  // A tensor that was never transferred out comes back with the contents of its old place.
  OrderPlan none = plan;
  none.transfers.front().out.reset();
  OrderExecution done = execute_order(graph, *program, none, layout.offsets, 3, nullptr);
  EXPECT_FALSE(done.passed());
  // A tensor that comes back to the place of another.
  const auto back = std::ranges::find_if(
      buffers.buffers, [](const Buffer& buffer) { return buffer.id.ends_with(".back"); });
  ASSERT_NE(back, buffers.buffers.end());
  std::vector<Bytes> offsets = layout.offsets;
  for (std::size_t k = 0; k < buffers.buffers.size(); ++k) {
    const Buffer& other = buffers.buffers[k];
    if (&other == &*back || other.size == 0) continue;
    if (other.lower < back->lower && back->lower < other.upper) {
      offsets[at(back - buffers.buffers.begin())] = offsets[k];
    }
  }
  done = execute_order(graph, *program, plan, offsets, 3, nullptr);
  EXPECT_FALSE(done.passed());
  EXPECT_THAT(done.problems.list(), Contains(HasSubstr("begins")));
}

}  // namespace
}  // namespace stowage::kernels::memory_order_transfers_test
