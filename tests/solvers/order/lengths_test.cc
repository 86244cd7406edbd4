// Plans for lengths that are known at run time only: every length of every range is recomputed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "heuristics/order/orders.h"
#include "instances/check.h"
#include "instances/order/generate/generate.h"
#include "instances/order/json/json.h"
#include "instances/order/memory/length_dependent_sizes.h"
#include "instances/order/memory/peak_by_length.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"
#include "instances/order/verify/verify.h"
#include "instances/verify.h"
#include "solvers/order/length/length_rows.h"
#include "solvers/solve.h"
#include "tests/oracles/order/brute_force.h"
#include "tests/tiny_order.h"

namespace stowage::order_lengths_test {
namespace {

using ::testing::IsEmpty;

OrderPlan solved(const OrderInstance& graph, const std::string& method = "auto",
                 std::int64_t nodes = 200'000) {
  Budget budget({.node_limit = nodes});
  const Outcome outcome = solve(graph, {.method = method}, budget);
  EXPECT_TRUE(outcome.plan) << outcome.detail;
  if (!outcome.plan) return {};
  EXPECT_THAT(verify(Instance(graph), *outcome.plan), IsEmpty()) << outcome.detail;
  EXPECT_EQ(outcome.detail, "");
  return std::get<OrderPlan>(*outcome.plan);
}

// At each length its row's order is valid, needs no more than the straight line between the ends of
// the row, and brute force finds nothing below the line between the bounds.
TEST(OrderLengths, EveryLengthOfARangeKeepsWhatItsRowSays) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const OrderInstance graph = tiny_growing_order(seed);
    ASSERT_THAT(check(graph), IsEmpty()) << seed;
    const OrderPlan plan = solved(graph);
    const bool tried = seed % 10 == 0;  // these are compared with brute force at every length
    for (Tokens s = graph.tokens->from; s <= graph.tokens->to; ++s) {
      const OrderRow* row = row_at(plan, s);
      ASSERT_NE(row, nullptr) << seed;
      ASSERT_TRUE(row->from <= s && s <= row->to) << seed;
      const OrderInstance fixed = at_length(graph, s);
      const OrderTable table(fixed);
      const Bytes peak = peak_of(table, std::vector<int>(row->order.begin(), row->order.end()));
      const OrderPlan its{
          .instance_hash = instance_hash(fixed), .peak_bytes = peak, .order = row->order};
      EXPECT_THAT(verify(fixed, its), IsEmpty()) << seed << ' ' << s;
      const auto between = [&](Bytes first, Bytes last) {  // times the length of the row
        return first * (row->to - s) + last * (s - row->from);
      };
      const Tokens wide = row->to - row->from;
      EXPECT_LE(peak * wide, between(row->peak_at_from, row->peak_at_to)) << seed << ' ' << s;
      EXPECT_LE(between(row->bound_at_from, row->bound_at_to), peak * wide) << seed << ' ' << s;
      if (!tried) continue;
      const Bytes least = brute_force(fixed)->peak_bytes;
      EXPECT_LE(between(row->bound_at_from, row->bound_at_to), least * wide) << seed << ' ' << s;
      if (s == row->from) {
        EXPECT_LE(row->bound_at_from, least) << seed;
      }
      if (s == row->to) {
        EXPECT_LE(row->bound_at_to, least) << seed;
      }
    }
    EXPECT_EQ(row_at(plan, graph.tokens->from - 1), nullptr);
    EXPECT_EQ(row_at(plan, graph.tokens->to + 1), nullptr);
  }
}

TEST(OrderLengths, CurvesAreThePeaksAtEachLength) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const OrderInstance graph = tiny_growing_order(seed, 9);
    const std::vector<int> order = OrderTable(graph).program_order();
    const PeakByLength curve(graph, order);
    for (Tokens s = graph.tokens->from; s <= graph.tokens->to; ++s) {
      EXPECT_EQ(curve.at(s), peak_of(OrderTable(graph, s), order)) << seed << ' ' << s;
    }
  }
}

// One operator with a large workspace, another whose output grows: s + 30 and 2 s + 11 bytes, which
// are equal at 19 tokens.
OrderInstance crossing() {
  OrderInstance graph{.tensors = {{.id = "x", .input = true, .size_per_token = 1},
                                  {.id = "y", .size = 10},
                                  {.id = "z", .size = 1, .output = true, .size_per_token = 2}},
                      .operators = {{.id = "f", .reads = {0}, .writes = {1}, .workspace = 20},
                                    {.id = "g", .reads = {1}, .writes = {2}}}};
  graph.tokens = {1, 40};
  return graph;
}

TEST(OrderLengths, ARowEndsWhereTheBoundsOfTwoOperatorsCross) {
  const OrderInstance graph = crossing();
  LengthRows rows(graph);
  rows.add({0, 1}, "list");
  const std::vector<OrderRow> one = rows.make({.cuts = 2, .most = 1});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_GT(worst_gap(one[0]), 0.2);
  const std::vector<OrderRow> two = rows.make({.cuts = 2, .most = 10});
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].to, 19);
  EXPECT_EQ(two[0].bound_operator, 0);
  EXPECT_EQ(two[1].from, 20);
  EXPECT_EQ(two[1].bound_operator, 1);
  EXPECT_EQ(worst_gap(two[0]), 0);
  EXPECT_EQ(worst_gap(two[1]), 0);
}

// Splits never increase the worst gap, and happen only if they decrease it.
TEST(OrderLengths, RowsAreSplitWhereThatHelps) {
  int split = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const OrderInstance graph = tiny_growing_order(seed, 9);
    LengthRows rows(graph);
    rows.add(OrderTable(graph).program_order(), "program");
    rows.add(list_order(OrderTable(graph)), "list");
    const auto worst_of = [&](std::size_t most, std::size_t& count) {
      const std::vector<OrderRow> all = rows.make({.cuts = 9, .most = most});
      count = all.size();
      return worst_gap_of_all(all);
    };
    std::size_t before = 0;
    double gap = worst_of(0, before);
    for (std::size_t most = before + 1;; ++most) {
      std::size_t count = 0;
      const double its = worst_of(most, count);
      if (count == before) {
        EXPECT_EQ(its, gap) << seed;
        break;
      }
      EXPECT_EQ(count, before + 1) << seed;
      EXPECT_LE(its, gap) << seed;
      gap = its;
      before = count;
      ++split;
    }
  }
  EXPECT_GT(split, 30);
}

// In the bundled graph no operator proves its order at 5 tokens, and one does from 6 tokens on.
TEST(OrderLengths, ARowMayBeOneLength) {
  std::ifstream in(std::string(STOWAGE_SOURCE_DIR) +
                   "/instances/data/order/tiny/another-order-when-long.json");
  const OrderInstance graph =
      *read_order_instance(std::string(std::istreambuf_iterator<char>(in), {}));
  const OrderPlan plan = solved(graph);
  ASSERT_EQ(plan.rows.size(), 3U);
  EXPECT_EQ(plan.rows[1].from, 5);
  EXPECT_EQ(plan.rows[1].to, 5);
  EXPECT_EQ(worst_gap(plan.rows[1]), 1.0 / 26);
  EXPECT_EQ(worst_gap(plan.rows[2]), 0);
}

// Two layers with their updates at the end: after few nodes a few rows are near their bounds at
// every length, while the list's order is worse at the shortest length.
TEST(OrderLengths, AFewRowsServeTwoLayersFrom256To65536) {
  const OrderInstance graph = *generate_order({.kind = OrderGenerator::Kind::transformer,
                                               .operators = 56,
                                               .tokens = 65536,
                                               .tokens_from = 256});
  const OrderPlan plan = solved(graph, "auto", 5'000);
  EXPECT_LE(worst_gap_of_all(plan.rows), 0.035);
  const OrderTable shortest(graph, 256);
  EXPECT_GT(static_cast<double>(peak_of(shortest, shortest.program_order())),
            1.01 * static_cast<double>(plan.rows.front().peak_at_from));
}

OrderInstance growing() {
  OrderInstance graph{.tensors = {{.id = "x", .size = 4, .input = true, .size_per_token = 2},
                                  {.id = "y", .output = true, .size_per_token = 1}},
                      .operators = {{.id = "f", .reads = {0}, .writes = {1}}}};
  graph.tokens = {2, 10};
  return graph;
}

// Each rule of rows, kept and broken.
TEST(OrderLengths, EachRuleOfRowsIsBrokenAlone) {
  const OrderInstance graph = growing();
  const OrderPlan plan = solved(graph);
  ASSERT_EQ(plan.rows.size(), 1U);
  EXPECT_EQ(plan.rows[0].peak_at_from, 10);
  EXPECT_EQ(plan.rows[0].peak_at_to, 34);
  EXPECT_EQ(plan.rows[0].bound_at_from, 10);
  EXPECT_EQ(plan.rows[0].bound_at_to, 34);
  const auto broken = [&](auto change) {
    OrderPlan its = plan;
    change(its, its.rows[0]);
    const std::vector<Violation> found = verify(graph, its);
    return found.size() == 1 ? found[0].rule + ' ' + found[0].where : std::to_string(found.size());
  };
  EXPECT_EQ(broken([](auto&, auto& r) {
              r.from = 3;
              r.peak_at_from = 13;
            }),
            "rows /rows/0/from");
  EXPECT_EQ(broken([](auto&, auto& r) { r.to = 9; }), "rows /rows/0/to");
  EXPECT_EQ(broken([](auto& p, auto&) { p.rows.clear(); }), "rows /rows");
  EXPECT_EQ(broken([](auto&, auto& r) { r.peak_at_from = 11; }), "peak /rows/0/peak_bytes_at_from");
  EXPECT_EQ(broken([](auto&, auto& r) { r.peak_at_to = 35; }), "peak /rows/0/peak_bytes_at_to");
  EXPECT_EQ(broken([](auto&, auto& r) { r.bound_at_from = 11; }),
            "bound /rows/0/bound_bytes_at_from");
  EXPECT_EQ(broken([](auto&, auto& r) { r.bound_at_to = 35; }), "bound /rows/0/bound_bytes_at_to");
  EXPECT_EQ(broken([](auto&, auto& r) { r.bound_operator = 1; }), "bound /rows/0/bound_operator");
  OrderInstance fixed = graph;
  fixed.tokens.reset();
  for (OrderTensor& tensor : fixed.tensors) tensor.size_per_token = 0;
  OrderPlan its = solved(fixed);
  its.rows = plan.rows;
  ASSERT_EQ(verify(fixed, its).size(), 1U);
  EXPECT_EQ(verify(fixed, its)[0].rule, "rows");
}

TEST(OrderLengths, DocumentsAreReadBack) {
  const OrderInstance graph = growing();
  EXPECT_EQ(*read_order_instance(write_order_instance(graph)), graph);
  const OrderPlan plan = solved(graph);
  EXPECT_EQ(*read_order_plan(write_order_plan(plan)), plan);
  OrderInstance other = graph;
  other.tokens->to = 11;
  EXPECT_NE(instance_hash(other), instance_hash(graph));
  other = graph;
  other.tensors[0].size_per_token = 3;
  EXPECT_NE(instance_hash(other), instance_hash(graph));
}

TEST(OrderLengths, RangesThatCannotBeAreRefused) {
  const auto code = [](auto change) {
    OrderInstance graph = growing();
    change(graph);
    const auto errors = check(graph);
    return errors.empty() ? std::string() : errors[0].code + ' ' + errors[0].pointer;
  };
  EXPECT_EQ(code([](auto&) {}), "");
  EXPECT_EQ(code([](auto& g) { g.tokens->from = 11; }), "E378 /tokens/from");
  EXPECT_EQ(code([](auto& g) { g.objective = OrderObjective::time; }), "E378 /objective");
  EXPECT_EQ(code([](auto& g) { g.tokens.reset(); }), "E378 /tensors/0/bytes_per_token");
  EXPECT_EQ(code([](auto& g) { g.tensors[0].size_per_token = kMaxExact; }),
            "E376 /tensors/0/size_bytes");
}

}  // namespace
}  // namespace stowage::order_lengths_test
