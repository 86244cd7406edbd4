// Solves of graphs whose operators may write in place, against brute force, the MILP and layouts.
#include <gtest/gtest.h>

#include <cmath>

#include "formulations/order/mip.h"
#include "instances/families.h"
#include "instances/order/certificate.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "instances/order/verify/exhaustive_check.h"
#include "instances/verify.h"
#include "solvers/memory/arrangement.h"
#include "solvers/memory/order_layout.h"
#include "solvers/milp/solver.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/tiny_order.h"

namespace stowage::order_in_place_solve_test {
namespace {

OrderPlan order_of(const Outcome& outcome) { return std::get<OrderPlan>(*outcome.plan); }

// No plan is below the optimum, no bound above it, each certificate holds, and nearly all plans are
// optimal: the search counts the least that an operator can need, which few graphs do not reach.
TEST(OrderInPlaceSolve, AgreesWithEveryOrder) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(400, 4000));
  std::uint64_t optimal = 0;
  std::uint64_t proven = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const OrderInstance graph = tiny_in_place_order(seed);
    Budget budget({.node_limit = 20'000});
    const Outcome outcome = solve(graph, {}, budget);
    ASSERT_TRUE(outcome.plan) << seed;
    const Bytes best = *least_peak(graph);
    const OrderPlan plan = order_of(outcome);
    EXPECT_TRUE(verify(graph, plan).empty()) << seed;
    EXPECT_GE(plan.peak_bytes, best) << seed;
    EXPECT_LE(outcome.bound, static_cast<double>(best)) << seed;
    if (outcome.certificate) {
      const auto checked =
          check_certificate(graph, std::get<OrderCertificate>(outcome.certificate->any()));
      EXPECT_TRUE(checked.violations.empty()) << seed;
      EXPECT_LE(checked.bound_bytes, best) << seed;
    }
    optimal += plan.peak_bytes == best ? 1 : 0;
    proven += outcome.status == Status::optimal ? 1 : 0;
  }
  RecordProperty("optimal", static_cast<int>(optimal));
  RecordProperty("proven", static_cast<int>(proven));
  EXPECT_GE(optimal, seeds * 97 / 100);
  EXPECT_GE(proven, seeds * 90 / 100);
}

TEST(OrderInPlaceSolve, TheMilpIsExact) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(30, 1000));
  for (const MilpBackend backend : built_backends()) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const OrderInstance graph = tiny_in_place_order(seed, 6);
      const OrderTable table(graph);
      if (table.operators() < 2) continue;
      const Bytes most = peak_of(table, table.program_order());
      const OrderMip mip = build_order_mip(table, {.most = most, .least = table.at_start()});
      Budget budget;
      const MilpResult solved = solve_milp(backend, mip.model, {}, budget);
      ASSERT_EQ(solved.status, MilpStatus::optimal) << name(backend) << seed << solved.detail;
      EXPECT_EQ(std::llround(solved.objective), *least_peak(graph)) << name(backend) << seed;
      EXPECT_EQ(peak_of(table, decode(mip, table, solved.values)), *least_peak(graph)) << seed;
    }
  }
}

// Tensors in place share a buffer, so that the load of the layout is the peak of the order.
TEST(OrderInPlaceSolve, LayoutsHaveThePeakAsLoad) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(200, 2000));
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const OrderInstance graph = tiny_in_place_order(seed);
    Budget budget({.node_limit = 20'000});
    const Outcome outcome = solve(graph, {.method = "fast"}, budget);
    const OrderPlan plan = order_of(outcome);
    const LayoutInstance buffers = order_layout(graph, plan);
    std::vector<Bytes> load(graph.operators.size() + 1, 0);
    for (const Buffer& buffer : buffers.buffers) {
      for (std::int64_t step = buffer.lower; step < buffer.upper; ++step) {
        load[static_cast<std::size_t>(step)] += round_up(buffer.size, graph.alignment);
      }
    }
    EXPECT_EQ(std::ranges::max(load), plan.peak_bytes) << seed;
    Budget more({.node_limit = 20'000});
    const Arrangement arranged = arrange(graph, plan, {}, more);
    ASSERT_TRUE(arranged.needed_bytes) << seed << arranged.detail;
    EXPECT_GE(round_up(*arranged.needed_bytes, graph.alignment), arranged.order.peak_bytes) << seed;
    EXPECT_TRUE(verify(graph, arranged.order).empty()) << seed;
  }
}

}  // namespace
}  // namespace stowage::order_in_place_solve_test
