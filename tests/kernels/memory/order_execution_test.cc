// The training step in the order of a plan, in one arena, compared with program order in separate
// allocations, and with the blocks without such a program.
#include "kernels/memory/order_execution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "instances/layout/verify/verify.h"
#include "instances/numeric/numbers.h"
#include "instances/order/memory/lifetimes.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "instances/order/planning_table.h"
#include "instances/order/verify/verify.h"
#include "kernels/memory/recorded_order.h"
#include "solvers/memory/order_layout.h"
#include "solvers/solve.h"
#include "tests/kernels/recorded_steps.h"

namespace stowage::kernels::memory_order_execution_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

OrderInstance recorded(const RecordedStep& step, Bytes alignment = 4, double capacity_share = 0) {
  const Result<OrderInstance> made = record_order(step, alignment, capacity_share);
  EXPECT_TRUE(made) << to_string(made.errors()[0]);
  return *made;
}

// Every ready operator is equally likely.
OrderPlan random_order(const OrderInstance& graph, std::uint64_t seed) {
  const OrderTable table(graph);
  OrderMemory memory(table);
  std::mt19937_64 random(seed);
  std::vector<int> order, ready;
  for (int op = 0; op < table.operators(); ++op) {
    if (memory.ready(op)) ready.push_back(op);
  }
  while (!ready.empty()) {
    const std::size_t k = random() % ready.size();
    const int op = ready[k];
    ready[k] = ready.back();
    ready.pop_back();
    memory.run(op);
    order.push_back(op);
    for (const int next : table.behind(op)) {
      if (memory.ready(next)) ready.push_back(next);
    }
  }
  return compose_order(graph, table, order);
}

template <class Plan, class Instance>
Plan solved(const Instance& instance, const std::string& method) {
  Budget budget({.node_limit = 2000});
  const Outcome outcome = solve(instance, {.method = method}, budget);
  EXPECT_TRUE(outcome.plan) << method;
  return std::get<Plan>(*outcome.plan);
}

// Returns program order, two orders by search, and one random order.
std::vector<OrderPlan> orders_of(const OrderInstance& graph, std::uint64_t seed) {
  return {solved<OrderPlan>(graph, "program"), solved<OrderPlan>(graph, "commit"),
          solved<OrderPlan>(graph, "fast"), random_order(graph, seed)};
}

LayoutPlan laid_out(const OrderInstance& graph, const OrderPlan& plan) {
  LayoutInstance buffers = order_layout(graph, plan);
  buffers.capacity.reset();  // a short search may not find a layout that reaches the order's peak
  const auto layout = solved<LayoutPlan>(buffers, "auto");
  EXPECT_THAT(verify(buffers, layout), IsEmpty());
  EXPECT_EQ(layout.offsets.size(), lifetimes(OrderTable(graph), plan.order).size());
  return layout;
}

// Returns offsets without overlaps, so that only the order is wrong.
std::vector<Bytes> apart(const LayoutInstance& buffers) {
  std::vector<Bytes> offsets;
  Bytes end = 0;
  for (const Buffer& buffer : buffers.buffers) {
    offsets.push_back(end);
    end += buffer.size;
  }
  return offsets;
}

// Returns the position of the operator `id` in the order of the plan.
auto place(const OrderInstance& graph, OrderPlan& plan, const std::string& id) {
  return std::ranges::find_if(plan.order,
                              [&](std::int64_t op) { return graph.operators[at(op)].id == id; });
}

std::int64_t operator_named(const OrderInstance& graph, const std::string& id) {
  return std::ranges::find(graph.operators, id, &OrderOperator::id) - graph.operators.begin();
}

TEST(OrderExecution, AnyOrderHasTheBitsOfProgramOrderAndThePlannedPeak) {
  std::uint64_t seed = 0;
  int orders = 0, without_gaps = 0;
  for (const RecordedStep& step : recorded_steps()) {
    const OrderInstance graph = recorded(step, seed % 2 == 0 ? 4 : 64);
    SCOPED_TRACE(graph.name);
    const Result<TrainingProgram> program = recorded_training(graph);
    ASSERT_TRUE(program) << to_string(program.errors()[0]);
    std::optional<float> loss;
    for (const OrderPlan& plan : orders_of(graph, ++seed)) {
      ASSERT_THAT(verify(graph, plan), IsEmpty());
      const LayoutPlan layout = laid_out(graph, plan);
      const OrderExecution done =
          execute_order(graph, *program, plan, layout.offsets, seed, nullptr);
      EXPECT_TRUE(done.passed());
      EXPECT_THAT(done.problems.list(), IsEmpty());
      EXPECT_EQ(done.high_water_bytes, layout.peak_bytes);
      // The search for a layout without gaps may end before it finds one.
      const Bytes high_water = round_up(done.high_water_bytes, graph.alignment);
      EXPECT_GE(high_water, plan.peak_bytes);
      ++orders;
      without_gaps += high_water == plan.peak_bytes ? 1 : 0;
      EXPECT_EQ(done.steps, std::ssize(graph.operators));
      EXPECT_EQ(done.losses.compared, 1);
      EXPECT_EQ(done.weight.compared, done.weight_gradient.compared);
      EXPECT_GT(done.loss, 0);
      EXPECT_EQ(loss.value_or(done.loss), done.loss);
      loss = done.loss;
    }
  }
  EXPECT_GE(10 * without_gaps, 9 * orders) << without_gaps << " of " << orders;
}

// Moving updates and gradients of weights saves memory, so the orders above differ.
TEST(OrderExecution, AnotherOrderNeedsLess) {
  for (const RecordedStep& step : recorded_steps()) {
    const OrderInstance graph = recorded(step);
    EXPECT_LT(solved<OrderPlan>(graph, "fast").peak_bytes,
              solved<OrderPlan>(graph, "program").peak_bytes)
        << graph.name;
  }
}

// Returns the plans of every method within a share of the memory, without methods that find none.
std::vector<OrderPlan> orders_with_runs_again(const OrderInstance& graph) {
  std::vector<OrderPlan> all;
  for (const char* method : {"evict", "fast", "walk"}) {
    Budget budget({.node_limit = 2000});
    const Outcome outcome = solve(graph, {.method = method}, budget);
    if (outcome.plan) all.push_back(std::get<OrderPlan>(*outcome.plan));
  }
  return all;
}

TEST(OrderExecution, WhatRunsAgainHasTheSameBitsInLessMemory) {
  std::uint64_t seed = 0;
  int with_runs_again = 0, plans = 0, without_gaps = 0;
  for (const RecordedStep& step : recorded_steps()) {
    const Bytes alignment = ++seed % 2 == 0 ? 4 : 64;
    const OrderInstance whole = recorded(step, alignment, 1);
    const auto least = solved<OrderPlan>(recorded(step, alignment), "fast");
    const auto in_list = solved<OrderPlan>(whole, "program");
    for (const double of_least : {1.0, 0.97, 0.94}) {
      OrderInstance graph = whole;
      graph.capacity = static_cast<Bytes>(of_least * static_cast<double>(least.peak_bytes));
      SCOPED_TRACE(graph.name + " in " + std::to_string(*graph.capacity));
      const Result<TrainingProgram> program = recorded_training(graph);
      ASSERT_TRUE(program) << to_string(program.errors()[0]);
      for (const OrderPlan& plan : orders_with_runs_again(graph)) {
        ASSERT_THAT(verify(graph, plan), IsEmpty());
        EXPECT_LT(plan.peak_bytes, in_list.peak_bytes);
        const LayoutPlan layout = laid_out(graph, plan);
        const OrderExecution done =
            execute_order(graph, *program, plan, layout.offsets, seed, nullptr);
        EXPECT_TRUE(done.passed());
        EXPECT_THAT(done.problems.list(), IsEmpty());
        EXPECT_EQ(done.high_water_bytes, layout.peak_bytes);
        EXPECT_EQ(done.steps - done.again, std::ssize(graph.operators));
        EXPECT_EQ(done.losses.compared, 1);
        with_runs_again += done.again > 0 ? 1 : 0;
        ++plans;
        const Bytes high_water = round_up(done.high_water_bytes, graph.alignment);
        without_gaps += high_water == plan.peak_bytes ? 1 : 0;
      }
    }
  }
  EXPECT_GE(with_runs_again, 12);
  EXPECT_GE(10 * without_gaps, 9 * plans) << without_gaps << " of " << plans;
}

TEST(OrderExecution, ARunAgainThatSeesOtherWeightsShowsInTheBits) {
  const OrderInstance graph = recorded({.block = {.lengths = {9}}}, 4, 1);
  const Result<TrainingProgram> program = recorded_training(graph);
  ASSERT_TRUE(program);
  OrderPlan plan = solved<OrderPlan>(graph, "program");
  plan.order.push_back(operator_named(graph, "0.gate"));
  EXPECT_THAT(verify(graph, plan), Not(IsEmpty()));
  const OrderExecution done =
      execute_order(graph, *program, plan, apart(order_layout(graph, plan)), 1, nullptr);
  EXPECT_EQ(done.again, 1);
  EXPECT_FALSE(done.passed());
  EXPECT_GT(done.activation.differing, 0);
  EXPECT_EQ(done.output.differing + done.weight.differing, 0);
}

TEST(OrderExecution, ATensorMadeAgainWhereAnotherLivesIsNamed) {
  const OrderInstance graph = recorded({.block = {.lengths = {9}}}, 4, 1);
  const Result<TrainingProgram> program = recorded_training(graph);
  ASSERT_TRUE(program);
  OrderPlan plan = solved<OrderPlan>(graph, "program");
  // Recomputed just before the backward pass reads it.
  plan.order.insert(std::ranges::find(plan.order, operator_named(graph, "0.d_down_weight")),
                    operator_named(graph, "0.swiglu"));
  const LayoutInstance buffers = order_layout(graph, plan);
  const auto layout = solved<LayoutPlan>(buffers, "auto");
  ASSERT_TRUE(execute_order(graph, *program, plan, layout.offsets, 1, nullptr).passed());
  const auto buffer = [&](const std::string& id) {
    return static_cast<std::size_t>(std::ranges::find(buffers.buffers, id, &Buffer::id) -
                                    buffers.buffers.begin());
  };
  std::vector<Bytes> offsets = layout.offsets;
  offsets[buffer("0.product.again")] = offsets[buffer("0.gate")];
  const OrderExecution done = execute_order(graph, *program, plan, offsets, 1, nullptr);
  EXPECT_FALSE(done.passed());
  EXPECT_THAT(done.problems.list(), Contains(HasSubstr("begins")));
}

// The update of a weight runs before its gradient: no slot of the arena holds the gradient then.
TEST(OrderExecution, AnOperatorBeforeTheWriterOfItsOperandIsNamed) {
  const OrderInstance graph = recorded({.block = {.lengths = {9}}});
  const Result<TrainingProgram> program = recorded_training(graph);
  ASSERT_TRUE(program);
  OrderPlan plan = solved<OrderPlan>(graph, "program");
  std::iter_swap(place(graph, plan, "0.d_query_input"), place(graph, plan, "0.update.query"));
  EXPECT_THAT(verify(graph, plan), Not(IsEmpty()));
  const OrderExecution done =
      execute_order(graph, *program, plan, apart(order_layout(graph, plan)), 1, nullptr);
  EXPECT_FALSE(done.passed());
  EXPECT_FALSE(done.complete);
  EXPECT_THAT(done.problems.list(), Contains(HasSubstr("operator '0.update.query' uses tensor")));
}

// The weight's gradient and its update run before the last reader of the old weight. Every operand
// has been written, so only the bits of the reader's result show the error.
TEST(OrderExecution, AnUpdateBeforeTheLastReaderShowsInTheBits) {
  const OrderInstance graph = recorded({.block = {.lengths = {9}}});
  const Result<TrainingProgram> program = recorded_training(graph);
  ASSERT_TRUE(program);
  OrderPlan plan = solved<OrderPlan>(graph, "program");
  for (const char* const early : {"0.d_query_weight", "0.update.query"}) {
    const auto from = place(graph, plan, early);
    const auto to = place(graph, plan, "0.d_query_input");
    ASSERT_LT(to, from);
    std::rotate(to, from, from + 1);
  }
  EXPECT_THAT(verify(graph, plan), Not(IsEmpty()));
  const OrderExecution done =
      execute_order(graph, *program, plan, apart(order_layout(graph, plan)), 1, nullptr);
  EXPECT_FALSE(done.passed());
  EXPECT_GT(done.input_gradient.differing, 0);
}

TEST(OrderExecution, AnOverlapIsNamedAndShowsInTheBits) {
  const OrderInstance graph = recorded({.block = {.lengths = {9}}});
  const Result<TrainingProgram> program = recorded_training(graph);
  ASSERT_TRUE(program);
  const auto plan = solved<OrderPlan>(graph, "program");
  std::vector<Bytes> offsets = laid_out(graph, plan).offsets;
  const auto tensor = [&](const std::string& id) {
    return static_cast<std::size_t>(std::ranges::find(graph.tensors, id, &OrderTensor::id) -
                                    graph.tensors.begin());
  };
  offsets[tensor("0.gate")] = offsets[tensor("0.q")];
  const OrderExecution done = execute_order(graph, *program, plan, offsets, 1, nullptr);
  EXPECT_FALSE(done.passed());
  EXPECT_THAT(done.problems.list(), Contains(HasSubstr("begins")));
  EXPECT_GT(done.input_gradient.differing, 0);
}

TEST(OrderExecution, WhatNoArenaCanHoldIsAProblemAndABudgetEndsIt) {
  const OrderInstance graph = recorded({.block = {.lengths = {5}}});
  const Result<TrainingProgram> program = recorded_training(graph);
  ASSERT_TRUE(program);
  const auto plan = solved<OrderPlan>(graph, "program");
  const std::vector<Bytes> offsets = laid_out(graph, plan).offsets;
  std::vector<Bytes> wrong = offsets;
  wrong[3] += 2;
  wrong[4] = kMaxExact - graph.tensors[4].size;
  OrderExecution done = execute_order(graph, *program, plan, wrong, 1, nullptr);
  EXPECT_FALSE(done.complete);
  EXPECT_THAT(done.problems.list(), Contains(HasSubstr("which is no multiple of a float's size")));
  EXPECT_THAT(done.problems.list(), Contains(HasSubstr("the arena has at most")));
  Budget budget({.time_limit_s = 0});
  done = execute_order(graph, *program, plan, offsets, 1, &budget);
  EXPECT_FALSE(done.passed());
  EXPECT_EQ(done.stopped_by, StopReason::time_limit);
  EXPECT_THAT(done.problems.list(), IsEmpty());
}

// An operator may take seconds and a run minutes, so the clock is checked before each operator of
// both runs.
TEST(OrderExecution, EndsBetweenOperators) {
  const OrderInstance graph = recorded({.block = {.lengths = {5}}});
  const Result<TrainingProgram> program = recorded_training(graph);
  ASSERT_TRUE(program);
  const auto plan = solved<OrderPlan>(graph, "program");
  const std::vector<Bytes> offsets = laid_out(graph, plan).offsets;
  const int steps = program->steps();
  for (const int looks : {steps / 2, steps + steps / 2}) {
    Budget budget({.time_limit_s = 1e-6 * looks, .clock = BudgetClock::looks});
    const OrderExecution done = execute_order(graph, *program, plan, offsets, 1, &budget);
    EXPECT_FALSE(done.complete) << looks;
    EXPECT_EQ(done.stopped_by, StopReason::time_limit) << looks;
    EXPECT_THAT(done.problems.list(), IsEmpty());
  }
  Budget budget({.time_limit_s = 1e-6 * (3 * steps), .clock = BudgetClock::looks});
  EXPECT_TRUE(execute_order(graph, *program, plan, offsets, 1, &budget).passed());
}

}  // namespace
}  // namespace stowage::kernels::memory_order_execution_test
