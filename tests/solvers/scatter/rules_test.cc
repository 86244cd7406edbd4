// The oracle ladder of the trainers' rules: brute force = MILP by GLPK = MILP by CBC = the facade =
// verify()'s own search, and every method satisfies the rules.
#include <gtest/gtest.h>

#include "instances/scatter/verify/verify.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/solvers/scatter/rungs.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_rules_test {
namespace {

const auto kInstances = static_cast<std::uint64_t>(in_long_run(14, 1000));

TEST(ScatterRulesLadder, BruteForcePlansVerifyAndTheirOptimumIsFoundAgain) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < 4 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_ruled_scatter(seed, 5);
    const auto plan = brute_force(instance);
    if (!plan) continue;
    ++planned;
    expect_found_again(instance, *plan, seed);
  }
  EXPECT_GT(planned, kInstances);
}

TEST(ScatterRulesLadder, BoundsAreBelowAndHeuristicsAboveTheOptimum) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < 2 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_ruled_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum) continue;
    planned += expect_bounds_below_and_heuristics_above(instance, *optimum, seed).plans;
  }
  EXPECT_GT(planned, kInstances);
}

// Few ranks that a single sequence cannot use all, so that some sequences must share a micro-batch.
TEST(ScatterRulesLadder, EqualGroupsOnAllRanksArePlannedWhereThereAreSome) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < 20 * kInstances; ++seed) {
    ScatterInstance instance = tiny_scatter(seed, 5, 6);
    instance.rules.no_idle_ranks = true;
    instance.rules.equal_sequences = true;
    const auto optimum = brute_force(instance);
    Budget budget;
    const Outcome outcome = solve(instance, {.method = "fast"}, budget);
    EXPECT_TRUE(outcome.violations.empty()) << seed;
    EXPECT_TRUE(!outcome.plan || optimum) << seed;
    if (!outcome.objective || !optimum) continue;
    ++planned;
    EXPECT_GE(*outcome.objective, optimum->objective_ms - slack(optimum->objective_ms)) << seed;
  }
  EXPECT_GT(planned, 5 * kInstances);
}

class ScatterRulesFacade : public testing::TestWithParam<MilpBackend> {};

TEST_P(ScatterRulesFacade, EqualsBruteForce) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    planned += expect_facade_proves(tiny_ruled_scatter(seed, 4, 4), GetParam(), seed);
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
}  // namespace stowage::scatter_rules_test
