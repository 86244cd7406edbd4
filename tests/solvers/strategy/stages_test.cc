// The stages of a strategy solve: each can be left out, and each parameter changed.
#include "solvers/strategy/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "instances/strategy/verify/verify.h"
#include "solvers/solve.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_stages_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Outcome solved(const StrategyInstance& instance, const SolveOptions& options = {}) {
  Budget budget({.node_limit = 100'000});
  Outcome outcome = solve(instance, options, budget);
  EXPECT_THAT(outcome.errors, IsEmpty());
  if (outcome.plan) {
    EXPECT_THAT(verify(instance, std::get<StrategyPlan>(*outcome.plan)), IsEmpty());
  }
  return outcome;
}

std::vector<std::string> ran(const Outcome& outcome) {
  std::vector<std::string> names;
  for (const StageReport& report : outcome.stages) names.push_back(report.name);
  return names;
}

TEST(StrategyStages, EveryCourseNamesStagesThatThereAre) {
  const auto known = strategy_stages();
  for (const Method& method : methods(tiny_strategy(1))) {
    for (const Phase& phase : strategy_course(method.name)) {
      for (const std::string_view name : phase.stages) {
        EXPECT_NE(std::ranges::find(known, name, &Stage<StrategyContext>::name), known.end())
            << name;
      }
    }
  }
}

// A stage that is left out is missed at most: plans stay valid, and bounds below the optimum.
TEST(StrategyStages, EachCanBeLeftOut) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const StrategyInstance instance = tiny_strategy(seed);
    const Outcome whole = solved(instance);
    for (const StageInfo& stage : stages(instance)) {
      const Outcome outcome = solved(instance, {.without = {stage.name}});
      if (outcome.plan) {
        ASSERT_TRUE(whole.plan) << seed << ' ' << stage.name;
        EXPECT_GE(*outcome.objective, whole.bound * (1 - 1e-9)) << seed << ' ' << stage.name;
        EXPECT_LE(outcome.bound, *whole.objective * (1 + 1e-9)) << seed << ' ' << stage.name;
      }
      const std::vector<std::string> names = ran(outcome);
      EXPECT_EQ(std::ranges::find(names, stage.name), names.end()) << seed;
    }
  }
}

// Without the cases of the slowest stage, equal prices certify a bound, which is no higher.
TEST(StrategyStages, PricesStandInForThresholds) {
  int lower = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const StrategyInstance instance = tiny_strategy(seed);
    const Outcome usual = solved(instance, {.without = {"search"}});
    const Outcome prices = solved(instance, {.without = {"search", "thresholds"}});
    if (!usual.plan) continue;
    const std::vector<std::string> names = ran(usual);
    EXPECT_EQ(std::ranges::find(names, "prices"), names.end()) << seed;
    EXPECT_LE(prices.bound, usual.bound * (1 + 1e-12)) << seed;
    lower += prices.bound < usual.bound * (1 - 1e-9);
  }
  EXPECT_GT(lower, 0);
}

TEST(StrategyStages, APlanThatNeedsTooMuchMemoryIsRefutedByItsStage) {
  StrategyInstance instance = tiny_strategy(1);
  instance.cluster.memory_mib = 1;
  const Outcome outcome = solved(instance);
  EXPECT_EQ(outcome.status, Status::infeasible);
  EXPECT_THAT(ran(outcome), ElementsAre("heuristic", "memory"));
  EXPECT_EQ(solved(instance, {.without = {"memory"}}).status, Status::unknown);
}

TEST(StrategyStages, EveryParameterIsTakenAtBothEnds) {
  for (const StrategyInstance& instance : {tiny_strategy(2), tiny_strategy(5)}) {
    const Outcome whole = solved(instance);
    for (const ParameterInfo& each : parameters(instance)) {
      for (const double value : {each.least, each.most}) {
        const Outcome outcome = solved(instance, {.params = {{each.name, value}}});
        if (!whole.plan) continue;
        EXPECT_LE(outcome.bound, *whole.objective * (1 + 1e-9)) << each.name;
      }
    }
  }
}

}  // namespace
}  // namespace stowage::strategy_stages_test
