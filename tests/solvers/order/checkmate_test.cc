// Checkmate's MILP, solved by the backends, against the search and brute force.
#include "formulations/order/checkmate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "instances/order/verify/verify.h"
#include "solvers/milp/solver.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/order/brute_force_again.h"
#include "tests/tiny_rerun.h"

namespace stowage::order_checkmate_test {
namespace {

using ::testing::IsEmpty;

// The MILP's plans are valid and have the stated objective. They are never better than the optimum,
// and equal to it on most graphs; both backends agree.
TEST(OrderCheckmate, BackendsFindPlansThatHold) {
  if (built_backends().empty()) GTEST_SKIP() << "no MILP backend is built in";
  const auto seeds = static_cast<std::uint64_t>(in_long_run(60, 1000));
  int equal = 0;
  int solved_ones = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const OrderInstance graph = tiny_rerun(seed, 5);
    const OrderTable table(graph);
    if (table.operators() < 2) continue;
    const std::optional<double> best = brute_force_again(graph, 3);
    const bool time = graph.objective == OrderObjective::time;
    const Bytes peak = peak_of(table, table.program_order());
    const Bytes most = std::min(peak, graph.capacity.value_or(peak));
    const Checkmate milp =
        build_checkmate(table, table.program_order(), {.time = time, .most = most});
    ASSERT_FALSE(milp.empty && best) << seed;
    if (milp.empty || milp.model.variables().empty()) continue;
    std::optional<double> objective;
    for (const MilpBackend backend : built_backends()) {
      SCOPED_TRACE(std::string(name(backend)) + std::to_string(seed));
      Budget budget;
      const MilpResult solved = solve_milp(backend, milp.model, {}, budget);
      if (solved.status == MilpStatus::infeasible) {
        EXPECT_FALSE(objective);
        continue;
      }
      ASSERT_EQ(solved.status, MilpStatus::optimal) << solved.detail;
      const OrderPlan plan = compose_order(graph, table, decode(milp, solved.values));
      EXPECT_THAT(verify(graph, plan), IsEmpty());
      EXPECT_LE(objective_of(plan), solved.objective * (1 + 1e-9) + 1e-9);
      ASSERT_TRUE(best);
      EXPECT_GE(objective_of(plan), *best * (1 - 1e-9));
      if (objective) {
        EXPECT_NEAR(*objective, solved.objective, 1e-6 * *objective);
      }
      if (!objective) {
        ++solved_ones;
        equal += objective_of(plan) <= *best * (1 + 1e-9) ? 1 : 0;
      }
      objective = solved.objective;
    }
  }
  EXPECT_GT(solved_ones, 10);
  EXPECT_GT(2 * equal, solved_ones);
}

}  // namespace
}  // namespace stowage::order_checkmate_test
