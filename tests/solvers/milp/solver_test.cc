// The contract of solve_milp, once per backend that is built in.
#include "solvers/milp/solver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/solvers/milp/milp_solver.h"
#include "tests/solvers/oracle.h"

namespace stowage::milp_solver_test {
namespace {

using testing::HasSubstr;

using milp::kInfinity;

struct Case {
  const char* what;
  std::vector<milp::Variable> variables;
  std::vector<milp::Row> rows;
  MilpStatus status;
  double objective = kInfinity;
};

TEST_P(MilpSolver, AnswersTheEdgeCases) {
  const Case cases[] = {
      {.what = "no variables, no rows", .status = MilpStatus::optimal, .objective = 2},
      {.what = "no variables, a row that holds",
       .rows = {{.upper = 1}},
       .status = MilpStatus::optimal,
       .objective = 2},
      {.what = "no variables, a row that fails",
       .rows = {{.lower = 1}},
       .status = MilpStatus::infeasible},
      {.what = "no rows",
       .variables = {{.lower = -3, .upper = 9, .objective = 2}},
       .status = MilpStatus::optimal,
       .objective = -4},
      {.what = "no rows, unbounded",
       .variables = {{.objective = -1, .integer = true}},
       .status = MilpStatus::unbounded},
      {.what = "every variable fixed",
       .variables = {{.lower = 2, .upper = 2, .objective = 1}, {.lower = 1, .upper = 1}},
       .rows = {{.lower = 3, .terms = {{0, 1}, {1, 1}}}},
       .status = MilpStatus::optimal,
       .objective = 4},
      {.what = "an integer between two integers",
       .variables = {{.lower = 0.2, .upper = 0.8, .integer = true}},
       .status = MilpStatus::infeasible},
      {.what = "fractional bounds on integers",
       .variables = {{.lower = 0.5, .upper = 3.5, .objective = -1, .integer = true},
                     {.lower = -0.5, .upper = 2.5, .objective = -1, .integer = true}},
       .rows = {{.upper = 4.5, .terms = {{0, 1}, {1, 1}}}},
       .status = MilpStatus::optimal,
       .objective = -2},
      {.what = "one variable several times in one row",
       .variables = {{.upper = 9, .objective = -1, .integer = true}, {.upper = 9, .objective = -1}},
       .rows = {{.upper = 8, .terms = {{0, 1}, {1, 1}, {0, 2}, {1, 1}}}},
       .status = MilpStatus::optimal,
       .objective = 2 - 4.0},
      {.what = "a pure linear programme",
       .variables = {{.objective = -3}, {.objective = -2}},
       .rows = {{.upper = 4, .terms = {{0, 1}, {1, 1}}}, {.upper = 6, .terms = {{0, 1}, {1, 3}}}},
       .status = MilpStatus::optimal,
       .objective = -10},
      {.what = "an infeasible linear programme",
       .variables = {{}, {}, {}},
       .rows = {{.upper = 1, .terms = {{0, 1}, {1, 1}}},
                {.upper = 1, .terms = {{1, 1}, {2, 1}}},
                {.lower = 5, .terms = {{0, 1}, {1, 1}, {2, 1}}}},
       .status = MilpStatus::infeasible},
      {.what = "an unbounded linear programme",
       .variables = {{.objective = -1}, {.objective = -1}},
       .rows = {{.upper = 4, .terms = {{0, 1}, {1, -1}}}},
       .status = MilpStatus::unbounded},
      {.what = "an unbounded relaxation without an integer point",
       .variables =
           {{.upper = 5, .integer = true}, {.upper = 5, .integer = true}, {.objective = -1}, {}},
       .rows = {{.lower = 1, .upper = 1, .terms = {{0, 2}, {1, -2}}},
                {.upper = 3, .terms = {{2, 1}, {3, -1}}}},
       .status = MilpStatus::infeasible},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    milp::Model model;
    for (const milp::Variable& v : one.variables) model.add_variable(v);
    for (const milp::Row& row : one.rows) model.add_row(row);
    model.set_offset(2);
    const MilpResult result = solve(model);
    EXPECT_EQ(result.status, one.status) << result.detail;
    if (one.status == MilpStatus::optimal) {
      EXPECT_NEAR(result.objective, one.objective, 1e-9);
      EXPECT_EQ(result.bound, result.objective);
      EXPECT_EQ(result.values.size(), one.variables.size());
    } else {
      EXPECT_TRUE(result.values.empty());
    }
  }
}

TEST_P(MilpSolver, RefusesNumbersThatAreNone) {
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  milp::Model model = assignment_model(2, 3, 1);
  EXPECT_EQ(solve(model, {.gap = kNan}).status, MilpStatus::error);
  EXPECT_EQ(solve(model, {.gap = -1}).status, MilpStatus::error);
  EXPECT_EQ(solve(model, {.cutoff = kNan}).status, MilpStatus::error);
  model.add_row({.name = "C9", .upper = kNan, .terms = {{0, 1}}});
  const MilpResult result = solve(model);
  EXPECT_EQ(result.status, MilpStatus::error);
  EXPECT_THAT(result.detail, HasSubstr("C9"));
}

// ---- scale ------------------------------------------------------------------------------------

TEST_P(MilpSolver, ScaleNeverChangesTheAnswer) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const double truth = makespan_optimum(3, 8, seed);
    for (const double factor : {1e-8, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e7, 1e8, 1e9, 1e10}) {
      const MilpResult result = solve(makespan_model(3, 8, seed, factor));
      ASSERT_EQ(result.status, MilpStatus::optimal) << factor << ": " << result.detail;
      EXPECT_NEAR(result.objective / factor, truth, 1e-6 * truth) << "factor " << factor;
    }
  }
}

TEST_P(MilpSolver, RefusesWhatScalingCannotMend) {
  milp::Model model = makespan_model(3, 8, 1, 1e9);
  milp::Model rigid;  // the same with an integral makespan, whose column must not be scaled
  for (milp::Variable v : model.variables()) {
    v.integer = true;
    rigid.add_variable(v);
  }
  for (const milp::Row& row : model.rows()) rigid.add_row(row);
  const MilpResult result = solve(rigid);
  EXPECT_EQ(result.status, MilpStatus::error);
  EXPECT_THAT(result.detail, HasSubstr("coefficients too far apart"));
}

// A constant far above the costs would be lifted with them, where CBC ends the process.
TEST_P(MilpSolver, AConstantIsScaledWithTheCosts) {
  for (const double cost : {1e-300, 1e-100, 1e-30, 1e-14, 1e-3, 1.0, 1e15}) {
    for (const double constant : {1e-100, 1.0, 9e15}) {
      milp::Model model;
      for (int j = 0; j < 3; ++j) {
        model.add_variable({.upper = 1, .objective = cost, .integer = true});
      }
      model.add_row({.lower = 2, .terms = {{0, 1}, {1, 1}, {2, 1}}});
      model.set_offset(constant);
      Budget budget;
      const MilpResult result = solve_milp(GetParam(), model, {}, budget);
      ASSERT_EQ(result.status, MilpStatus::optimal) << cost << ' ' << constant << result.detail;
      const double least = constant + 2 * cost;
      EXPECT_NEAR(result.objective, least, 1e-9 * least) << cost << ' ' << constant;
      EXPECT_LE(result.bound, result.objective);
    }
  }
}

TEST_P(MilpSolver, CutoffsBeyondAllNumbers) {
  for (const double cutoff : {-1e300, -1e30, 1e30, 1e300}) {
    milp::Model model;
    model.add_variable({.upper = 4, .objective = 1e-3, .integer = true});
    model.add_variable({.upper = 4, .objective = 2e-3, .integer = true});
    model.add_row({.lower = 3, .terms = {{0, 1}, {1, 1}}});
    Budget budget({.node_limit = std::numeric_limits<std::int64_t>::max()});
    const MilpResult result = solve_milp(GetParam(), model, {.cutoff = cutoff}, budget);
    if (cutoff > 0) {
      EXPECT_EQ(result.status, MilpStatus::optimal) << cutoff << result.detail;
    } else {
      EXPECT_NE(result.status, MilpStatus::infeasible) << cutoff;
    }
  }
}

TEST_P(MilpSolver, WarnsOfWideRanges) {
  milp::Model model;
  model.add_variable({.upper = 1, .objective = -1, .integer = true});
  model.add_variable({.upper = 1, .objective = -1, .integer = true});
  model.add_row({.upper = 1e7, .terms = {{0, 1}, {1, 1e7}}});
  const MilpResult result = solve(model);
  EXPECT_EQ(result.status, MilpStatus::optimal);
  EXPECT_THAT(result.detail, HasSubstr("wide coefficient range"));
}

TEST_P(MilpSolver, AGapStopIsFeasibleAndSaysSo) {
  const MilpResult result = solve(assignment_model(10, 60, 1), {.gap = 0.2}, {.node_limit = 5000});
  ASSERT_EQ(result.status, MilpStatus::feasible) << result.detail;
  EXPECT_TRUE(result.gap_reached);
  EXPECT_EQ(result.limit, StopReason::none);
  EXPECT_LE(result.objective - result.bound, 0.2 * result.objective + 1e-6);
  EXPECT_LT(result.bound, result.objective);
}

TEST_P(MilpSolver, ACutoffBelowTheOptimumProvesABound) {
  const milp::Model model = makespan_model(3, 8, 1);
  const double truth = makespan_optimum(3, 8, 1);
  const MilpResult none = solve(model, {.cutoff = truth - 0.5});
  EXPECT_EQ(none.status, MilpStatus::unknown);
  EXPECT_EQ(none.bound, truth - 0.5);
  EXPECT_THAT(none.detail, HasSubstr("nothing below the cutoff"));
  const MilpResult found = solve(model, {.cutoff = truth + 0.5});
  EXPECT_EQ(found.status, MilpStatus::optimal) << found.detail;
  EXPECT_NEAR(found.objective, truth, 1e-6);
  const MilpResult kept = solve(model, {.start = found.values, .cutoff = truth - 0.5});
  EXPECT_EQ(kept.status, MilpStatus::feasible) << kept.detail;
  EXPECT_EQ(kept.bound, truth - 0.5);
  const MilpResult equal = solve(model, {.start = found.values, .cutoff = found.objective});
  EXPECT_EQ(equal.status, MilpStatus::optimal) << equal.detail;
}

TEST_P(MilpSolver, ObserversSeeOnlyProgress) {
  const milp::Model model = makespan_model(4, 12, 1);
  double objective = kInfinity;
  double bound = -kInfinity;
  int incumbents = 0;
  const MilpResult result = solve(model, {}, {.node_limit = 400}, [&](const MilpEvent& event) {
    EXPECT_LE(event.objective, objective);
    EXPECT_GE(event.bound, bound);
    if (event.values != nullptr) {
      ++incumbents;
      EXPECT_LT(event.objective, objective);
      EXPECT_LE(model.violation(*event.values), 1e-6);
      EXPECT_EQ(model.objective(*event.values), event.objective);
    } else {
      EXPECT_GT(event.bound, bound);
    }
    objective = event.objective;
    bound = event.bound;
  });
  EXPECT_GT(incumbents, 0);
  EXPECT_GT(bound, 0);
  EXPECT_LE(result.objective, objective);
  EXPECT_GE(result.bound, bound);
}

TEST_P(MilpSolver, TheSameSeedGivesTheSamePoint) {
  const milp::Model model = makespan_model(4, 10, 5);
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{42}, ~std::uint64_t{0}}) {
    const MilpResult a = solve(model, {.seed = seed});
    const MilpResult b = solve(model, {.seed = seed});
    EXPECT_EQ(a.status, MilpStatus::optimal);
    EXPECT_EQ(a.values, b.values);
    EXPECT_EQ(a.nodes, b.nodes);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, MilpSolver, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MilpSolver);

TEST(MilpBackends, AreNamedAndBuiltAsConfigured) {
  EXPECT_EQ(name(MilpBackend::cbc), "cbc");
  EXPECT_EQ(name(MilpBackend::glpk), "glpk");
  EXPECT_EQ(name(MilpBackend::highs), "highs");
  std::vector<MilpBackend> expected;
#ifdef STOWAGE_WITH_CBC
  expected.push_back(MilpBackend::cbc);
#endif
#ifdef STOWAGE_WITH_HIGHS
  expected.push_back(MilpBackend::highs);
#endif
#ifdef STOWAGE_WITH_GLPK
  expected.push_back(MilpBackend::glpk);
#endif
  EXPECT_EQ(built_backends(), expected);
}

}  // namespace
}  // namespace stowage::milp_solver_test
