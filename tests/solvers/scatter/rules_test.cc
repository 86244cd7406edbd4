// The oracle ladder of the rules of consumers: brute force = MILP by GLPK = MILP by CBC = the
// facade = the search that verify() makes again, and every method keeps the rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "formulations/scatter/bounds.h"
#include "heuristics/scatter/registry.h"
#include "instances/scatter/optimum.h"
#include "instances/scatter/verify.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_scatter.h"

namespace stowage {
namespace {

const auto kInstances = static_cast<std::uint64_t>(in_long_run(14, 1000));
constexpr double kTolerance = 1e-6;

double slack(double value) { return kTolerance * std::max(1.0, value); }

TEST(ScatterRulesLadder, BruteForcePlansVerifyAndTheirOptimumIsFoundAgain) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < 4 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_ruled_scatter(seed, 5);
    const auto plan = brute_force(instance);
    if (!plan) continue;
    ++planned;
    EXPECT_TRUE(verify(instance, *plan).empty()) << seed;
    const auto again = least_objective(instance, 2 * plan->objective_ms + 1);
    ASSERT_TRUE(again) << seed;
    EXPECT_NEAR(*again, plan->objective_ms, slack(plan->objective_ms)) << seed;
  }
  EXPECT_GT(planned, kInstances);
}

TEST(ScatterRulesLadder, BoundsAreBelowAndHeuristicsAboveTheOptimum) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < 2 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_ruled_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum) continue;
    const ScatterTable table(instance);
    EXPECT_LE(least_micro_batches(table), std::ssize(optimum->micro_batches)) << seed;
    for (const NamedBound& bound : scatter_bounds(table)) {
      EXPECT_LE(bound.value, optimum->objective_ms + slack(optimum->objective_ms))
          << bound.name << ' ' << seed;
    }
    for (const ScatterHeuristic& heuristic : heuristics(instance)) {
      if (heuristic.name == "joint") continue;  // `fast` with more moves
      const auto plan = heuristic.run(instance, table, seed, Budget());
      if (!plan) continue;
      ++planned;
      EXPECT_GE(plan->objective_ms, optimum->objective_ms - slack(optimum->objective_ms))
          << heuristic.name << ' ' << seed;
      EXPECT_TRUE(verify(instance, *plan).empty()) << heuristic.name << ' ' << seed;
    }
  }
  EXPECT_GT(planned, kInstances);
}

class ScatterRulesFacade : public testing::TestWithParam<MilpBackend> {};

TEST_P(ScatterRulesFacade, EqualsBruteForce) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_ruled_scatter(seed, 4, 4);
    const auto optimum = brute_force(instance);
    Budget budget;
    const Outcome outcome = solve(instance, {.method = "exact", .backend = GetParam()}, budget);
    if (!optimum) {
      ASSERT_EQ(outcome.status, Status::infeasible) << seed << " " << outcome.detail;
      EXPECT_TRUE(check_infeasibility(instance, *outcome.infeasibility).empty()) << seed;
      continue;
    }
    ++planned;
    ASSERT_TRUE(outcome.objective) << seed << ' ' << outcome.detail;
    EXPECT_EQ(outcome.status, Status::optimal) << seed << ' ' << outcome.detail;
    EXPECT_NEAR(*outcome.objective, optimum->objective_ms, slack(optimum->objective_ms)) << seed;
    EXPECT_LE(outcome.bound, *outcome.objective) << seed;
  }
  EXPECT_GT(planned, kInstances / 3);
}

// FlexSP's own degrees and buckets keep it from the optimum, not from the rules.
TEST_P(ScatterRulesFacade, OtherMethodsKeepTheRules) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kInstances / 2; ++seed) {
    const ScatterInstance instance = tiny_ruled_scatter(seed, 4, 4);
    const auto optimum = brute_force(instance);
    for (const char* method : {"flexsp", "flexsp-chunks", "auto"}) {
      Budget budget;
      const Outcome outcome = solve(instance, {.method = method, .backend = GetParam()}, budget);
      EXPECT_TRUE(outcome.violations.empty()) << method << ' ' << seed;
      EXPECT_TRUE(!outcome.plan || optimum) << method << ' ' << seed;
      if (!outcome.objective || !optimum) continue;
      ++planned;
      EXPECT_GE(*outcome.objective, optimum->objective_ms - slack(optimum->objective_ms))
          << method << ' ' << seed;
      EXPECT_LE(outcome.bound, optimum->objective_ms + slack(optimum->objective_ms))
          << method << ' ' << seed;
    }
  }
  EXPECT_GT(planned, kInstances / 4);
}

INSTANTIATE_TEST_SUITE_P(Backends, ScatterRulesFacade, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScatterRulesFacade);

}  // namespace
}  // namespace stowage
