// The MILP of orders, solved by the backends, against the search.
#include "formulations/order/mip.h"

#include <gtest/gtest.h>

#include <cmath>

#include "instances/order/memory.h"
#include "instances/order/optimum.h"
#include "solvers/milp/solver.h"
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

}  // namespace
}  // namespace stowage::order_mip_test
