// What a solver promises where a limit or an interrupt ends it, and of the start that it is given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "solvers/milp/solver.h"
#include "tests/solvers/milp/milp_solver.h"
#include "tests/solvers/oracle.h"

namespace stowage::milp_solver_test {
namespace {

using testing::HasSubstr;

// ---- limits -----------------------------------------------------------------------------------

TEST_P(MilpSolver, NoTimeMeansUnknownOrTheStart) {
  const milp::Model model = makespan_model(4, 10, 1);
  const MilpResult nothing = solve(model, {}, {.time_limit_s = 0});
  EXPECT_EQ(nothing.status, MilpStatus::unknown);
  EXPECT_EQ(nothing.limit, StopReason::time_limit);
  std::vector<double> start(model.variables().size());
  for (std::size_t j = 0; j < 10; ++j) start[j] = 1;  // everything on the first agent
  start.back() = 1e4;
  const MilpResult kept = solve(model, {.start = start}, {.time_limit_s = 0});
  EXPECT_EQ(kept.status, MilpStatus::feasible);
  EXPECT_EQ(kept.limit, StopReason::time_limit);
  EXPECT_EQ(kept.values, start);
  EXPECT_EQ(kept.objective, 1e4);
}

TEST_P(MilpSolver, NodeLimitsStopAtTheSamePlaceEveryTime) {
  const milp::Model model = market_split_model(4, 1);
  for (const std::int64_t limit : {1, 20, 60}) {
    Budget first({.node_limit = limit});
    const MilpResult a = solve_milp(GetParam(), model, {}, first);
    Budget second({.node_limit = limit});
    const MilpResult b = solve_milp(GetParam(), model, {}, second);
    EXPECT_EQ(a.limit, StopReason::node_limit) << limit;
    EXPECT_EQ(first.nodes(), a.nodes);
    EXPECT_LE(a.nodes, limit);
    EXPECT_EQ(a.status, b.status);
    EXPECT_EQ(a.nodes, b.nodes);
    EXPECT_EQ(a.objective, b.objective);
    EXPECT_EQ(a.bound, b.bound);
    EXPECT_EQ(a.values, b.values);
    EXPECT_LE(a.bound, a.objective);
    EXPECT_GT(a.bound, 0) << "the root relaxation was solved";
  }
}

TEST_P(MilpSolver, ABudgetIsSharedWithOthers) {
  const milp::Model model = market_split_model(4, 1);
  Budget budget({.node_limit = 100});
  budget.count_nodes(90);
  const MilpResult result = solve_milp(GetParam(), model, {}, budget);
  EXPECT_EQ(result.limit, StopReason::node_limit);
  EXPECT_LE(result.nodes, 10);
  EXPECT_EQ(budget.nodes(), 90 + result.nodes);
  const MilpResult late = solve_milp(GetParam(), model, {}, budget);
  if (budget.exhausted()) {
    EXPECT_EQ(late.nodes, 0);
  }
}

TEST_P(MilpSolver, ATimeLimitLeavesATrueBound) {
  const milp::Model model = assignment_model(8, 40, 3);
  const MilpResult best = solve(model, {.gap = 0.02}, {.node_limit = 3000});
  const MilpResult cut = solve(model, {}, {.time_limit_s = 0.05});
  EXPECT_NE(cut.status, MilpStatus::error) << cut.detail;
  if (cut.status != MilpStatus::optimal) {
    EXPECT_EQ(cut.limit, StopReason::time_limit);
  }
  ASSERT_TRUE(has_point(best.status));
  EXPECT_LE(cut.bound, best.objective + 1e-6);
}

// A time limit at any point, also inside the root relaxation, gives no false claim.
TEST_P(MilpSolver, ARunCutShortClaimsNothing) {
  const milp::Model integral = assignment_model(15, 150, 1);
  milp::Model linear;
  for (milp::Variable v : integral.variables()) {
    v.integer = false;
    linear.add_variable(v);
  }
  for (const milp::Row& row : integral.rows()) linear.add_row(row);
  const MilpResult truth = solve(linear);
  ASSERT_EQ(truth.status, MilpStatus::optimal) << truth.detail;
  for (const double seconds : {1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1}) {
    const MilpResult lp = solve(linear, {}, {.time_limit_s = seconds});
    if (lp.status == MilpStatus::optimal) {
      EXPECT_NEAR(lp.objective, truth.objective, 1e-6 * truth.objective);
    } else {
      EXPECT_EQ(lp.status, MilpStatus::unknown) << lp.detail;
      EXPECT_EQ(lp.limit, StopReason::time_limit);
    }
    const MilpResult milp = solve(integral, {}, {.time_limit_s = seconds});
    EXPECT_TRUE(milp.status == MilpStatus::unknown || milp.status == MilpStatus::feasible)
        << milp.detail;
    EXPECT_EQ(milp.limit, StopReason::time_limit);
    if (has_point(milp.status)) {
      EXPECT_GE(milp.objective, truth.objective - 1e-6 * truth.objective);
    }
  }
}

TEST_P(MilpSolver, AnInterruptFromAnotherThreadEndsTheRun) {
  std::atomic<bool> interrupt{false};
  std::atomic<bool> running{false};
  std::atomic<bool> over{false};
  std::jthread other([&] {
    while (!running && !over) std::this_thread::yield();
    interrupt = true;
  });
  // The node limit only keeps a broken interrupt from running forever.
  const MilpResult result =
      solve(assignment_model(10, 60, 1), {}, {.node_limit = 1000000, .interrupt = &interrupt},
            [&](const MilpEvent&) { running = true; });
  over = true;
  EXPECT_EQ(result.limit, StopReason::interrupted);
  EXPECT_TRUE(result.status == MilpStatus::feasible || result.status == MilpStatus::unknown);
}

TEST_P(MilpSolver, AnInterruptBeforeTheStartIsHonoured) {
  const std::atomic<bool> interrupt{true};
  const MilpResult result = solve(assignment_model(4, 8, 1), {}, {.interrupt = &interrupt});
  EXPECT_EQ(result.status, MilpStatus::unknown);
  EXPECT_EQ(result.limit, StopReason::interrupted);
}

// ---- starts, gaps, cutoffs, observers
// ------------------------------------------------------------

TEST_P(MilpSolver, NeverWorseThanTheStart) {
  const milp::Model model = assignment_model(8, 40, 3);
  const MilpResult good = solve(model, {.gap = 0.02}, {.node_limit = 3000});
  ASSERT_TRUE(has_point(good.status)) << good.detail;
  for (const std::int64_t limit : {1, 5}) {
    const MilpResult again = solve(model, {.start = good.values}, {.node_limit = limit});
    ASSERT_TRUE(has_point(again.status)) << again.detail;
    EXPECT_LE(again.objective, good.objective);
    EXPECT_EQ(again.detail, "");
  }
}

TEST_P(MilpSolver, BadStartsAreDroppedAndSaid) {
  const milp::Model model = assignment_model(3, 6, 1);
  const MilpResult truth = solve(model);
  ASSERT_EQ(truth.status, MilpStatus::optimal);
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> fractional = truth.values;
  fractional[0] = 0.5;
  std::vector<double> twice(truth.values.size(), 1.0);
  std::vector<double> none(truth.values.size(), kNan);
  const std::pair<std::vector<double>, std::string> starts[] = {
      {{1, 2, 3}, "it has 3 values, the model has 18 variables"},
      {fractional, "integrality of"},
      {twice, "it breaks row"},
      {none, "not finite"}};
  for (const auto& [start, words] : starts) {
    const MilpResult result = solve(model, {.start = start});
    EXPECT_EQ(result.status, MilpStatus::optimal);
    EXPECT_EQ(result.objective, truth.objective);
    EXPECT_THAT(result.detail, HasSubstr("start ignored: "));
    EXPECT_THAT(result.detail, HasSubstr(words));
  }
}

TEST_P(MilpSolver, AnOptimalStartIsProvedAndReturned) {
  const milp::Model model = makespan_model(3, 8, 2);
  const MilpResult truth = solve(model);
  ASSERT_EQ(truth.status, MilpStatus::optimal);
  const MilpResult again = solve(model, {.start = truth.values});
  EXPECT_EQ(again.status, MilpStatus::optimal) << again.detail;
  EXPECT_NEAR(again.objective, makespan_optimum(3, 8, 2), 1e-6);
  EXPECT_NEAR(again.bound, again.objective, 1e-6);
}

}  // namespace
}  // namespace stowage::milp_solver_test
