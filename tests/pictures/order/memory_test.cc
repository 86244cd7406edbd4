// The picture of an order: what it shows, in a document that is well-formed.
#include "instances/pictures/order/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instances/order/compose.h"
#include "instances/order/generate.h"
#include "instances/order/table.h"
#include "tests/svg_document.h"

namespace stowage::order_memory_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string drawn(const OrderInstance& graph, const ShownBounds& bounds = {}) {
  const OrderTable table(graph);
  const OrderPlan plan = compose_order(graph, table, table.program_order());
  std::string svg = svg_document({order_memory(graph, plan, bounds)}, "order");
  EXPECT_EQ(SvgDocument(svg).complaints(), "");
  return svg;
}

// f makes a anew for h; n is wide.
TEST(OrderMemory, ShowsWhatRunsAgain) {
  const OrderInstance graph{
      .capacity = 60,
      .objective = OrderObjective::time,
      .tensors = {{.size = 5, .input = true},
                  {.size = 20},
                  {.size = 30},
                  {.size = 1, .output = true}},
      .operators = {{.id = "f", .reads = {0}, .writes = {1}, .ms = 2, .recompute = true},
                    {.id = "g", .reads = {}, .writes = {2}, .ms = 1},
                    {.id = "h", .reads = {1, 2}, .writes = {3}, .ms = 1}}};
  const OrderTable table(graph);
  const OrderPlan plan = compose_order(graph, table, std::vector<int>{0, 1, 0, 2});
  const std::string svg =
      svg_document({order_memory(graph, plan, {.proven = ShownBound{4, "work"}})}, "order");
  EXPECT_EQ(SvgDocument(svg).complaints(), "");
  EXPECT_THAT(svg, HasSubstr("operator f runs again"));
  EXPECT_THAT(svg, HasSubstr("1 run again"));
  EXPECT_THAT(svg, HasSubstr("All runs take"));
}

OrderInstance two() {
  return {.name = "two",
          .capacity = 150,
          .tensors = {{.id = "x", .size = 64, .input = true},
                      {.id = "a", .size = 32},
                      {.id = "b", .size = 8, .output = true}},
          .operators = {{.id = "f", .reads = {0}, .writes = {1}},
                        {.id = "g", .reads = {1}, .writes = {2}}}};
}

TEST(OrderMemory, ShowsThePeakAndWhoIsAlive) {
  const std::string svg = drawn(two(), {.proven = ShownBound{96, "operator"}});
  EXPECT_THAT(svg, HasSubstr("peak 96 bytes"));
  EXPECT_THAT(svg, HasSubstr("proven bound 96 bytes (operator)"));
  EXPECT_THAT(svg, HasSubstr("capacity 150 bytes"));
  EXPECT_THAT(svg, HasSubstr("order of the list, peak 96 bytes"));
  EXPECT_THAT(svg, HasSubstr("tensor x: 64 bytes, steps 0 to 0"));
  EXPECT_THAT(svg, Not(HasSubstr("tensor b:")));
}

TEST(OrderMemory, ACapacityFarAboveIsNamed) {
  OrderInstance graph = two();
  graph.capacity = 100'000;
  EXPECT_THAT(drawn(graph), HasSubstr("is above the picture"));
}

TEST(OrderMemory, DrawsEmptyAndLargeGraphs) {
  EXPECT_THAT(drawn({}), HasSubstr("0 operators"));
  const auto large = generate_order({.kind = OrderGenerator::Kind::layered, .operators = 20'000});
  const std::string svg = drawn(*large);
  EXPECT_LT(svg.size(), 500'000U);
  EXPECT_THAT(svg, HasSubstr("Not drawn: "));
}

}  // namespace
}  // namespace stowage::order_memory_test
