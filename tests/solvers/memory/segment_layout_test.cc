// Layouts built from segments of steps: orders with the same peak, layouts within the limit, and
// determinism.
#include "solvers/memory/segment_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "heuristics/order/profile_smoothing.h"
#include "instances/documents.h"
#include "instances/layout/plan_builder.h"
#include "instances/order/generate/generate.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "instances/verify.h"
#include "solvers/memory/order_layout.h"
#include "tests/tiny_order.h"

namespace stowage::stretch_layout_test {
namespace {

using ::testing::IsEmpty;

OrderPlan plan_of(const OrderInstance& graph, const OrderTable& table,
                  const std::vector<int>& order) {
  OrderPlan plan = compose_order(graph, table, order);
  plan.instance_hash = instance_hash(graph);
  plan.bound_by = "none";
  return plan;
}

void expect_valid(const OrderInstance& graph, const OrderTable& table, const SegmentLayout& found,
                  Bytes limit) {
  const OrderPlan plan = plan_of(graph, table, found.order);
  EXPECT_THAT(verify(graph, plan), IsEmpty()) << graph.name;
  LayoutInstance buffers = order_layout(graph, plan);
  buffers.capacity = limit;
  LayoutPlan layout = compose_layout(buffers, found.offsets);
  layout.instance_hash = instance_hash(buffers);
  EXPECT_THAT(verify(buffers, layout), IsEmpty()) << graph.name;
}

TEST(SegmentLayout, OfTinyGraphsIsValid) {
  int found_some = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    OrderInstance graph = tiny_order(seed, 14);
    graph.capacity.reset();  // the program order may need more
    const OrderTable table(graph);
    const OrderPlan plan = plan_of(graph, table, table.program_order());
    for (const bool with_valleys : {true, false}) {
      Budget budget({.node_limit = 2000});
      const auto found = lay_out_stretches(
          graph, table, plan,
          {.limit = plan.peak_bytes, .with_valleys = with_valleys, .seed = seed}, budget);
      if (!found) continue;
      expect_valid(graph, table, *found, plan.peak_bytes);
      ++found_some;
    }
  }
  EXPECT_GT(found_some, 100);
}

TEST(SegmentLayout, OfLayeredGraphsNeedsNoMoreThanTheOrder) {
  int found_some = 0;
  for (const std::uint64_t seed : {31, 34, 35}) {
    const OrderInstance graph =
        *generate_order({.kind = OrderGenerator::Kind::layered, .operators = 200, .seed = seed});
    const OrderTable table(graph);
    const std::vector<int> order =
        level_order(table, table.program_order(), {.moves = 500'000, .seed = seed}, Budget());
    const OrderPlan plan = plan_of(graph, table, order);
    for (const bool with_valleys : {true, false}) {
      const SegmentOptions options{
          .limit = plan.peak_bytes, .with_valleys = with_valleys, .seed = seed};
      Budget budget({.node_limit = 200'000});
      const auto found = lay_out_stretches(graph, table, plan, options, budget);
      if (!found) continue;
      ++found_some;
      expect_valid(graph, table, *found, plan.peak_bytes);
      Budget same({.node_limit = 200'000});
      const auto again = lay_out_stretches(graph, table, plan, options, same);
      ASSERT_TRUE(again);
      EXPECT_EQ(again->order, found->order);
      EXPECT_EQ(again->offsets, found->offsets);
      EXPECT_EQ(same.nodes(), budget.nodes());
    }
  }
  EXPECT_GT(found_some, 0);
}

TEST(SegmentLayout, EndsWithTheBudget) {
  const OrderInstance graph =
      *generate_order({.kind = OrderGenerator::Kind::layered, .operators = 200, .seed = 4});
  const OrderTable table(graph);
  const OrderPlan plan = plan_of(graph, table, table.program_order());
  Budget none({.time_limit_s = 0});
  EXPECT_FALSE(lay_out_stretches(graph, table, plan, {.limit = plan.peak_bytes}, none));
}

TEST(SegmentLayout, OfOneHillIsNone) {
  OrderInstance graph;
  graph.operators.assign(4, OrderOperator{.workspace = 64});
  const OrderTable table(graph);
  const OrderPlan plan = plan_of(graph, table, table.program_order());
  Budget budget;
  EXPECT_FALSE(lay_out_stretches(graph, table, plan, {.limit = 64}, budget));
}

}  // namespace
}  // namespace stowage::stretch_layout_test
