// Bounds of orders and their MILP, against values worked out by hand and brute force.
#include "formulations/order/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formulations/order/mip.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/verify/exhaustive_check.h"
#include "tests/oracles/order/brute_force_again.h"
#include "tests/oracles/order/brute_force_host.h"
#include "tests/tiny_host.h"
#include "tests/tiny_order.h"
#include "tests/tiny_rerun.h"

namespace stowage::order_bounds_test {
namespace {

using ::testing::IsEmpty;

TEST(OrderBounds, TheOperatorBoundByHand) {
  OrderInstance graph{.tensors = {{.size = 10, .input = true, .output = true},
                                  {.size = 4, .input = true},
                                  {.size = 6}},
                      .operators = {{.reads = {1}, .writes = {2}, .workspace = 3}}};
  // All tensors in memory: 10 until the end, 4 read, 6 written, 3 workspace.
  EXPECT_EQ(operator_bound(OrderTable(graph)).bytes, 23);
  EXPECT_EQ(operator_bound(OrderTable(graph)).op, 0);
  graph.operators[0] = {.writes = {2}};
  graph.tensors[1].size = 40;
  // The inputs stay, since no operator reads them: 50, and 6 more while the operator runs.
  EXPECT_EQ(operator_bound(OrderTable(graph)).bytes, 56);
  graph.operators.clear();
  graph.tensors.pop_back();
  EXPECT_EQ(operator_bound(OrderTable(graph)).op, OperatorBound::kEnds);
}

TEST(OrderBounds, NoneIsAboveTheOptimumAndCutsAreAtLeastTheirOperators) {
  int above = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const OrderInstance graph = tiny_order(seed, 9, false);
    const OrderTable table(graph);
    const Bytes best = *least_peak(graph);
    const Bytes simple = operator_bound(table).bytes;
    EXPECT_LE(simple, best) << seed;
    LeastLive least(table);
    Bytes cut = 0;
    for (int op = 0; op < table.operators(); ++op) {
      const OrderCertificate certificate = cut_bound(table, least, op);
      EXPECT_THAT(check_certificate(graph, certificate).violations, IsEmpty()) << seed;
      cut = std::max(cut, certificate.bound_bytes);
    }
    EXPECT_LE(cut, best) << seed;
    EXPECT_GE(std::max(cut, table.at_start()), operator_bound(table).op < 0 ? 0 : simple) << seed;
    above += cut > simple ? 1 : 0;
  }
  EXPECT_GT(above, 20);
}

// Three runs of 1 ms. Two tensors of 6 and 4 bytes wait for the last operator but one beside its 10
// bytes, so that within 14 bytes one of them is recomputed: the one with the least cost per byte.
TEST(OrderBounds, DroppedIsTheLeastTimeToMakeAgainWhatDoesNotFit) {
  OrderInstance graph{
      .capacity = 14,
      .tensors = {{.size = 6}, {.size = 4}, {.size = 10}, {.size = 1, .output = true}},
      .operators = {{.writes = {0}, .ms = 3, .recompute = true},
                    {.writes = {1}, .ms = 8, .recompute = true},
                    {.writes = {2}, .ms = 1},
                    {.reads = {0, 1, 2}, .writes = {3}, .ms = 1}}};
  graph.objective = OrderObjective::time;
  graph.operators[2].after = {0, 1};
  const OrderTable table(graph);
  EXPECT_EQ(rerun_bounds(table, 21).dropped_ms, rerun_bounds(table, 21).work_ms);
  EXPECT_EQ(rerun_bounds(table, 21).work_ms, 13);
  EXPECT_EQ(rerun_bounds(table, 20).dropped_ms, 13);
  EXPECT_DOUBLE_EQ(rerun_bounds(table, 17).dropped_ms, 13 + 1.5);  // 3 bytes of 6, for 3 ms
  EXPECT_DOUBLE_EQ(rerun_bounds(table, 14).dropped_ms, 13 + 3);
  EXPECT_DOUBLE_EQ(rerun_bounds(table, 12).dropped_ms, 13 + 3 + 4);
  EXPECT_DOUBLE_EQ(rerun_bounds(table, 10).dropped_ms, 13 + 3 + 8);
}

TEST(OrderBounds, OfRunsAgainNoneIsAboveTheOptimum) {
  int dropped = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const OrderInstance graph = tiny_rerun(seed, 5);
    const auto best = brute_force_again(graph);
    if (!best) continue;
    const RerunBounds bounds = rerun_bounds(OrderTable(graph), graph.capacity);
    if (graph.objective == OrderObjective::peak) {
      EXPECT_LE(static_cast<double>(bounds.kept), *best) << seed;
      continue;
    }
    EXPECT_LE(bounds.kept, *graph.capacity) << seed;
    EXPECT_LE(bounds.work_ms, *best * (1 + 1e-9)) << seed;
    EXPECT_LE(bounds.dropped_ms, *best * (1 + 1e-9)) << seed;
    dropped += bounds.dropped_ms > bounds.work_ms ? 1 : 0;
  }
  EXPECT_GT(dropped, 5);
}

TEST(OrderBounds, WithAHostNoneIsAboveTheOptimum) {
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const OrderInstance graph = tiny_host(seed, 4);
    const auto best = brute_force_host(graph);
    if (!best) continue;
    const RerunBounds bounds = rerun_bounds(OrderTable(graph), graph.capacity);
    if (graph.objective == OrderObjective::peak) {
      EXPECT_LE(static_cast<double>(bounds.kept), *best) << seed;
      continue;
    }
    EXPECT_LE(bounds.work_ms, *best * (1 + 1e-9)) << seed;
    EXPECT_LE(bounds.moved_ms, *best * (1 + 1e-9)) << seed;
    moved += bounds.moved_ms > bounds.work_ms ? 1 : 0;
  }
  EXPECT_GT(moved, 5);
}

// Rows hold for the point of every order, and the point of an order decodes to it.
TEST(OrderMip, OrdersArePointsOfTheModel) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const OrderInstance graph = tiny_order(seed, 8, false);
    const OrderTable table(graph);
    if (table.operators() == 0) continue;
    const std::vector<int>& order = table.program_order();
    const Bytes peak = peak_of(table, order);
    const OrderMip mip = build_order_mip(table, {.most = peak});
    std::vector<double> values(mip.model.variables().size(), 1);  // l_t_k at their most
    std::int64_t binaries = 0;
    for (std::size_t step = 0; step < order.size(); ++step) {
      const auto op = static_cast<std::size_t>(order[step]);
      for (std::size_t k = 0; k < mip.done[op].size(); ++k) {
        const auto among = mip.first[op] + static_cast<std::int64_t>(k);
        values[static_cast<std::size_t>(mip.done[op][k])] =
            static_cast<std::int64_t>(step) < among ? 1 : 0;
        ++binaries;
      }
    }
    EXPECT_EQ(binaries, order_mip_binaries(table));
    EXPECT_EQ(decode(mip, table, values), order) << seed;
    // Rows of O3 aside, which ask for the true l.
    values[static_cast<std::size_t>(mip.peak)] = static_cast<double>(peak / mip.unit);
    for (const milp::Row& row : mip.model.rows()) {
      if (row.name.starts_with("O3")) continue;
      double sum = 0;
      for (const milp::Term& term : row.terms) {
        sum += term.coefficient * values[static_cast<std::size_t>(term.variable)];
      }
      EXPECT_LE(sum, row.upper) << seed << row.name;
      EXPECT_GE(sum, row.lower) << seed << row.name;
    }
  }
}

TEST(OrderMip, IsEmptyWhereTheBoundIsAboveThePeak) {
  const OrderInstance graph{.operators = {{}, {}}};
  EXPECT_TRUE(build_order_mip(OrderTable(graph), {.most = 3, .least = 4}).empty);
}

}  // namespace
}  // namespace stowage::order_bounds_test
