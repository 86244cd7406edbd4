// Every strategy heuristic: plans that are valid and fit, and what each is better than.
#include "heuristics/strategy/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "heuristics/strategy/configurations.h"
#include "instances/strategy/generate.h"
#include "instances/strategy/verify.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_registry_test {
namespace {

using ::testing::IsEmpty;

std::map<std::string, std::optional<StrategyPlan>> plans_of(const StrategyInstance& instance) {
  const StrategyTable table(instance);
  const Budget budget;
  std::map<std::string, std::optional<StrategyPlan>> plans;
  for (const StrategyHeuristic& heuristic : heuristics(instance)) {
    plans[heuristic.name] = heuristic.run(instance, table, 0, budget);
    EXPECT_EQ(plans[heuristic.name], heuristic.run(instance, table, 7, budget)) << heuristic.name;
  }
  return plans;
}

TEST(StrategyHeuristics, PlansAreValidAndBetterInTurn) {
  int uneven = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const StrategyInstance instance = seed % 2 == 0 ? tiny_strategy(seed) : tiny_experts(seed);
    auto plans = plans_of(instance);
    for (const auto& [name, plan] : plans) {
      if (!plan) continue;
      EXPECT_THAT(verify(instance, *plan), IsEmpty()) << name << seed;
    }
    if (plans["rule"]) {
      ASSERT_TRUE(plans["homogeneous"]) << seed;
      EXPECT_LE(plans["homogeneous"]->step_ms, plans["rule"]->step_ms) << seed;
    }
    if (!plans["homogeneous"]) continue;
    ASSERT_TRUE(plans["fast"]) << seed;
    EXPECT_LE(plans["fast"]->step_ms, plans["homogeneous"]->step_ms) << seed;
    uneven += plans["fast"]->step_ms < plans["homogeneous"]->step_ms ? 1 : 0;
  }
  EXPECT_GT(uneven, 0);
}

// A 7B model fits eight devices of 72 GiB with one stage, one rank for a sequence and ZeRO 1.
TEST(StrategyHeuristics, TheRuleTakesTheLeast) {
  const auto instance = generate_strategy({.nodes = 1}, std::vector<Tokens>(64, 2048));
  const auto plans = plans_of(*instance);
  const std::optional<StrategyPlan>& rule = plans.at("rule");
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->pp, 1);
  EXPECT_EQ(rule->cp, 1);
  EXPECT_EQ(rule->tp, 1);
  EXPECT_EQ(rule->dp, 8);
  EXPECT_EQ(rule->micro_batches, 8);  // one sequence in each row
  EXPECT_EQ(rule->stages[0].zero, 1);
}

// The head makes the last stage heavy: stages of their own give it fewer layers.
TEST(StrategyHeuristics, AHeavyHeadGetsFewerLayers) {
  auto instance = *generate_strategy({.nodes = 1}, std::vector<Tokens>(64, 2048));
  instance.model.vocabulary = 256'000;
  instance.options.pp = {4};
  instance.options.v = {1};
  const auto plans = plans_of(instance);
  const std::optional<StrategyPlan>& fast = plans.at("fast");
  ASSERT_TRUE(fast);
  EXPECT_EQ(plans.at("homogeneous")->stages.back().layers, 8);
  EXPECT_LE(fast->step_ms, plans.at("homogeneous")->step_ms);
}

// One of each kind, the fastest first: the best of all is among them.
TEST(StrategyHeuristics, TheFastestOfEachKindBeginWithTheBest) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const StrategyInstance instance = seed % 2 == 0 ? tiny_strategy(seed) : tiny_experts(seed);
    const StrategyTable table(instance);
    const std::optional<StrategyPlan> best = best_homogeneous(table, Budget());
    const std::vector<StrategyPlan> plans = fastest_homogeneous(table, 1000, Budget());
    ASSERT_EQ(best.has_value(), !plans.empty()) << seed;
    if (!best) continue;
    EXPECT_EQ(plans.front().step_ms, best->step_ms) << seed;
    std::set<std::array<std::int64_t, 6>> kinds;
    Ms last = 0;
    for (const StrategyPlan& plan : plans) {
      const StrategyStage& stage = plan.stages.front();
      kinds.insert(
          {plan.pp, plan.v, plan.tp, stage.zero, static_cast<int>(stage.recompute), plan.ep});
      EXPECT_THAT(verify(instance, plan), IsEmpty()) << seed;
      EXPECT_GE(plan.step_ms, last) << seed;
      last = plan.step_ms;
    }
    EXPECT_EQ(kinds.size(), plans.size()) << seed;
    EXPECT_EQ(fastest_homogeneous(table, 1, Budget()).size(), 1U);
  }
}

}  // namespace
}  // namespace stowage::strategy_registry_test
