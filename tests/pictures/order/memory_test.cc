// The picture of an order: its contents, in a well-formed document.
#include "instances/pictures/order/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "instances/order/generate/generate.h"
#include "instances/order/plan_builder.h"
#include "instances/order/planning_table.h"
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

// f recomputes a for h; n needs much memory.
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

// f makes a, which is on the host while m runs.
TEST(OrderMemory, ShowsWhatIsOnTheHost) {
  const OrderInstance graph{
      .capacity = 30,
      .objective = OrderObjective::time,
      .tensors = {{.id = "a", .size = 20}, {.size = 30}, {.size = 1, .output = true}},
      .operators = {{.id = "f", .writes = {0}, .ms = 2},
                    {.id = "m", .writes = {1}, .ms = 1},
                    {.id = "h", .reads = {0}, .writes = {2}, .ms = 1}},
      .host = HostLink{.out_bytes_per_ms = 20, .in_bytes_per_ms = 10}};
  const OrderTable table(graph);
  const std::vector<OrderTransfer> transfers = {{.tensor = 0, .out = 1, .freed = 1, .in = 2}};
  const OrderPlan plan = compose_order(graph, table, std::vector<int>{0, 1, 2}, transfers);
  EXPECT_EQ(plan.peak_bytes, 30);
  const std::string svg = svg_document({order_memory(graph, plan, {})}, "order");
  EXPECT_EQ(SvgDocument(svg).complaints(), "");
  EXPECT_THAT(svg, HasSubstr("tensor a on the host, steps 1 to 1"));
  EXPECT_THAT(svg, HasSubstr("1 transfer, at most 20 bytes on the host, stalls of 3"));
  EXPECT_THAT(svg, HasSubstr("All runs, with stalls, take 7"));
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

// The tensor y grows: up to 4 tokens f needs the most memory, from 6 tokens on g.
OrderInstance growing() {
  OrderInstance graph{.name = "growing",
                      .tensors = {{.size = 1, .input = true},
                                  {.size = 10, .size_per_token = 0},
                                  {.output = true, .size_per_token = 4}},
                      .operators = {{.id = "f", .reads = {0}, .writes = {1}, .workspace = 20},
                                    {.id = "g", .reads = {1}, .writes = {2}}}};
  graph.tokens = {1, 8};
  return graph;
}

// f needs 31 bytes, g 10 and 4 a token.
OrderPlan rows_of_growing() {
  OrderPlan plan{.peak_bytes = 42, .order = {0, 1}};
  plan.rows = {{1, 4, 31, 31, 31, 31, 0, {0, 1}},
               {5, 5, 31, 31, 30, 30, 1, {0, 1}},
               {6, 8, 34, 42, 34, 42, 1, {0, 1}}};
  return plan;
}

struct Place {
  double x = 0;
  double y = 0;
};

// The points of the line with this title.
std::vector<Place> line_of(const std::string& svg, const std::string& title) {
  const std::regex line("<polyline class=\"[^\"]*\" points=\"([^\"]*)\"><title>" + title + "<");
  std::smatch found;
  std::vector<Place> places;
  if (!std::regex_search(svg, found, line)) return places;
  std::istringstream points(found[1].str());
  char comma = 0;
  for (Place place; points >> place.x >> comma >> place.y;) places.push_back(place);
  return places;
}

TEST(OrderMemory, ShowsThePeakAndTheBoundOfEachRowOverTheLengths) {
  const OrderInstance graph = growing();
  const std::string svg = svg_document({order_memory(graph, rows_of_growing(), {})}, "order");
  EXPECT_EQ(SvgDocument(svg).complaints(), "");
  EXPECT_THAT(svg, HasSubstr("The peak by length: 3 rows"));
  EXPECT_THAT(svg, HasSubstr("Steps and tensors are drawn at the longest length, 8 tokens."));
  EXPECT_THAT(svg, HasSubstr("a row begins: 5 tokens"));
  EXPECT_THAT(svg, HasSubstr("a row begins: 6 to 8 tokens"));
  EXPECT_THAT(svg, Not(HasSubstr("a row begins: 1 to 4 tokens")));

  const std::vector<Place> first = line_of(svg, "peak, 1 to 4 tokens");
  const std::vector<Place> one = line_of(svg, "peak, 5 tokens");
  const std::vector<Place> bound = line_of(svg, "bound, 5 tokens");
  const std::vector<Place> last = line_of(svg, "peak, 6 to 8 tokens");
  ASSERT_EQ(first.size(), 4U);
  ASSERT_EQ(one.size(), 2U);
  ASSERT_EQ(bound.size(), 2U);
  ASSERT_EQ(last.size(), 3U);
  EXPECT_EQ(first.front().y, first.back().y);
  EXPECT_LT(one.front().x, one.back().x) << "a row of one length is seen";
  EXPECT_GT(one.front().x, first.back().x);
  EXPECT_LT(one.back().x, last.front().x);
  EXPECT_EQ(one.front().y, first.back().y);
  // Bytes are drawn to scale: from 30 to 31 is a quarter of the distance between 34 and 38.
  EXPECT_NEAR(bound.front().y - one.front().y, (last[0].y - last[1].y) / 4, 0.02);
  for (std::size_t k = 1; k < last.size(); ++k) {
    EXPECT_LT(last[k - 1].x, last[k].x);
    EXPECT_GT(last[k - 1].y, last[k].y);
  }
  const std::vector<Place> its = line_of(svg, "bound, 6 to 8 tokens");
  ASSERT_EQ(its.size(), last.size());
  EXPECT_EQ(its.front().y, last.front().y);
  EXPECT_EQ(its.back().y, last.back().y);
}

TEST(OrderMemory, LongRangesHaveAFewPointsARowAndOneLengthHasNoCurve) {
  OrderInstance graph = growing();
  graph.tokens = {1, 1'000'000};
  OrderPlan plan = rows_of_growing();
  plan.peak_bytes = 4'000'010;
  plan.rows = {{1, 1'000'000, 31, 4'000'010, 31, 4'000'010, 1, {0, 1}}};
  const std::string svg = svg_document({order_memory(graph, plan, {})}, "order");
  EXPECT_EQ(SvgDocument(svg).complaints(), "");
  EXPECT_THAT(svg, HasSubstr("The peak by length: 1 row,"));
  const std::vector<Place> line = line_of(svg, "peak, 1 to 1 000 000 tokens");
  ASSERT_GT(line.size(), 10U);
  EXPECT_LT(line.size(), 100U);
  for (std::size_t k = 1; k < line.size(); ++k) EXPECT_LT(line[k - 1].x, line[k].x) << k;

  graph.tokens = {8, 8};
  plan = rows_of_growing();
  plan.rows = {{8, 8, 42, 42, 42, 42, 1, {0, 1}}};
  const std::string fixed = svg_document({order_memory(graph, plan, {})}, "order");
  EXPECT_EQ(SvgDocument(fixed).complaints(), "");
  EXPECT_THAT(fixed, Not(HasSubstr("The peak by length")));
  EXPECT_THAT(fixed, HasSubstr("drawn at the longest length, 8 tokens."));
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
