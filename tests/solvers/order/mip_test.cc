// The MILP of orders, solved by the backends, against the search.
#include "formulations/order/mip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "instances/order/verify/exhaustive_check.h"
#include "solvers/memory/order_layout.h"
#include "solvers/milp/solver.h"
#include "solvers/solve.h"
#include "tests/every_order.h"
#include "tests/long_run.h"
#include "tests/tiny_order.h"

namespace stowage::order_mip_test {
namespace {

TEST(OrderMip, BackendsFindTheOptimum) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(30, 1000));
  for (const MilpBackend backend : built_backends()) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const OrderInstance graph = tiny_order(seed, 6, false);
      const OrderTable table(graph);
      if (table.operators() < 2) continue;
      const Bytes most = peak_of(table, table.program_order());
      const OrderMip mip = build_order_mip(table, {.most = most, .least = table.at_start()});
      Budget budget;
      const MilpResult solved = solve_milp(backend, mip.model, {}, budget);
      ASSERT_EQ(solved.status, MilpStatus::optimal) << name(backend) << seed << solved.detail;
      const std::vector<int> order = decode(mip, table, solved.values);
      EXPECT_EQ(peak_of(table, order), least_peak(graph)) << name(backend) << seed;
      EXPECT_EQ(std::llround(solved.objective), *least_peak(graph)) << name(backend) << seed;
    }
  }
}

// Returns the lowest end of the tensors of an order.
Bytes laid_out(const OrderInstance& graph, const OrderTable& table, const std::vector<int>& order) {
  Budget budget;
  const Outcome found =
      solve(order_layout(graph, compose_order(graph, table, order)), {.method = "exact"}, budget);
  EXPECT_EQ(found.status, Status::optimal);
  return round_up(static_cast<Bytes>(*found.objective), graph.alignment);
}

Bytes least_of_all_orders(const OrderInstance& graph, const OrderTable& table) {
  Bytes least = kMaxExact;
  every_order(table, [&](const std::vector<int>& order) {
    least = std::min(least, laid_out(graph, table, order));
  });
  return least;
}

// O6 is compared with every order with every layout.
TEST(OrderMip, AddressesGiveTheLeastOfAllOrdersAndLayouts) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(60, 1000));
  int above = 0;  // graphs whose tensors need more memory than the peak of the best order
  for (const MilpBackend backend : built_backends()) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const OrderInstance graph = tiny_order(seed, 4, false);
      const OrderTable table(graph);
      if (table.operators() < 2) continue;
      const OrderMip mip =
          build_order_mip(table, {.most = laid_out(graph, table, table.program_order()),
                                  .least = table.at_start(),
                                  .addresses = true});
      Budget budget;
      const MilpResult solved = solve_milp(backend, mip.model, {}, budget);
      ASSERT_EQ(solved.status, MilpStatus::optimal) << name(backend) << seed << solved.detail;
      const Bytes least = least_of_all_orders(graph, table);
      EXPECT_EQ(std::llround(solved.objective), least) << name(backend) << seed;
      const std::vector<int> order = decode(mip, table, solved.values);
      EXPECT_EQ(laid_out(graph, table, order), least) << name(backend) << seed;
      above += static_cast<int>(least > *least_peak(graph));
    }
  }
  RecordProperty("above", above);
}

}  // namespace
}  // namespace stowage::order_mip_test
