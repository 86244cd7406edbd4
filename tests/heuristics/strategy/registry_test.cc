// Every strategy heuristic: its plans are valid and fit, and are better than those of simpler ones.
#include "heuristics/strategy/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "heuristics/strategy/configurations.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/generate/generate.h"
#include "instances/strategy/verify/exhaustive_check.h"
#include "instances/strategy/verify/verify.h"
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
  for (std::uint64_t seed = 0; seed < 270; ++seed) {
    const StrategyInstance instance =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed) : tiny_experts(seed), seed);
    auto plans = plans_of(instance);
    for (const auto& [name, plan] : plans) {
      if (!plan) continue;
      EXPECT_THAT(verify(instance, *plan), IsEmpty()) << name << seed;
    }
    for (const char* other : {"rule", "homogeneous", "galvatron", "alpa"}) {
      if (!plans[other]) continue;
      ASSERT_TRUE(plans["fast"]) << other << seed;
      EXPECT_LE(plans["fast"]->step_ms, plans[other]->step_ms * (1 + 1e-12)) << other << seed;
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

// Seven layers on two stages: Galvatron's division gives the last one what does not divide, and
// each stage takes its own choice: the first holds two micro-batches, the last one.
TEST(StrategyHeuristics, GalvatronDividesBeforehand) {
  auto instance = *generate_strategy({.nodes = 1}, std::vector<Tokens>(64, 2048));
  instance.model.blocks[0].count = 7;
  instance.options.pp = {2};
  instance.options.v = {1, 2};
  const std::optional<StrategyPlan> plan = plans_of(instance).at("galvatron");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->v, 1);
  EXPECT_EQ(plan->stages[0].layers, 3);
  EXPECT_EQ(plan->stages[1].layers, 4);
}

// Without exchanges and with sequences of one length, Alpa's objective is the step time: no plan in
// one chunk is faster. Galvatron divides layers in advance, which it may not move.
TEST(StrategyHeuristics, AlpaIsTheBestWithoutExchanges) {
  int compared = 0;
  int behind = 0;
  for (std::uint64_t seed = 0; seed < 270; ++seed) {
    StrategyInstance instance =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed, 6) : tiny_experts(seed, 6), seed);
    instance.options.v = {1};
    without_exchanges(instance);
    for (Tokens& length : instance.lengths) length = instance.lengths.front();
    const std::optional<Ms> best = least_step(instance);
    if (!best) continue;
    auto plans = plans_of(instance);
    ASSERT_EQ(plans["alpa"].has_value(), *best < kInfinity) << seed;
    if (!plans["alpa"]) continue;
    EXPECT_NEAR(plans["alpa"]->step_ms, *best, 1e-6 * *best) << seed;
    compared += plans["alpa"]->pp > 1 ? 1 : 0;
    if (!plans["galvatron"]) continue;
    EXPECT_GE(plans["galvatron"]->step_ms, *best * (1 - 1e-9)) << seed;
    behind += plans["galvatron"]->step_ms > *best * 1.001 ? 1 : 0;
  }
  EXPECT_GT(compared, 10);
  EXPECT_GT(behind, 0);
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

// One configuration of each type, the fastest first: the best of all is among them.
TEST(StrategyHeuristics, TheFastestOfEachKindBeginWithTheBest) {
  for (std::uint64_t seed = 0; seed < 140; ++seed) {
    const StrategyInstance instance =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed) : tiny_experts(seed), seed);
    const StrategyTable table(instance);
    const std::optional<StrategyPlan> best = best_homogeneous(table, Budget());
    const std::vector<StrategyPlan> plans = fastest_homogeneous(table, 1000, Budget());
    ASSERT_EQ(best.has_value(), !plans.empty()) << seed;
    if (!best) continue;
    EXPECT_EQ(plans.front().step_ms, best->step_ms) << seed;
    std::set<std::array<std::int64_t, 7>> kinds;
    Ms last = 0;
    for (const StrategyPlan& plan : plans) {
      const StrategyStage& stage = plan.stages.front();
      kinds.insert({plan.pp, plan.v, plan.tp, stage.zero, static_cast<int>(stage.recompute),
                    plan.ep, plan.shard});
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
