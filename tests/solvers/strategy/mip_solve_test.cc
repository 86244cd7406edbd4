// The MIP of a class and layout: equal to brute force, in folded and path form, by every backend.
#include "solvers/strategy/mip_solve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "formulations/strategy/mip.h"
#include "instances/check.h"
#include "instances/families.h"
#include "instances/strategy/generate/generate.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/verify/verify.h"
#include "solvers/solve.h"
#include "solvers/strategy/stage_search.h"
#include "solvers/strategy/uniap_solve.h"
#include "tests/long_run.h"
#include "tests/oracles/strategy/brute_force.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_mip_solve_test {
namespace {

using ::testing::IsEmpty;

// Returns the step time of the model's solution for a class and layout.
std::optional<Ms> step_of(const StageCosts& costs, StrategyMipForm form, MilpBackend backend) {
  const StrategyMip mip = build_strategy_mip(costs, form);
  if (mip.empty) return std::nullopt;
  Budget budget;
  const MilpResult solved = solve_milp(backend, mip.model, {}, budget);
  if (solved.status == MilpStatus::infeasible) return std::nullopt;
  EXPECT_EQ(solved.status, MilpStatus::optimal) << solved.detail;
  const StrategyPlan plan = compose_strategy(costs, decode(mip, solved.values));
  EXPECT_TRUE(fits(costs.table().instance(), plan));
  // The model's objective is the plan's step time.
  EXPECT_NEAR(plan.step_ms, solved.objective, 1e-6 * plan.step_ms);
  return plan.step_ms;
}

TEST(StrategyMip, FoldedAndAsAPathItIsBruteForceAndSearch) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(54, 1400));
  int folded = 0;
  int several = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const StrategyInstance instance =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed, 6) : tiny_experts(seed, 6), seed);
    const StrategyTable table(instance);
    for (const StrategyClass& its : table.classes()) {
      const StrategyLayout layout = table.layouts(its).back();
      const StageCosts costs(table, its, layout);
      const std::optional<StrategyPlan> best = brute_force(narrowed_to(instance, its, layout));
      Budget budget;
      StageSearch search(costs);
      EXPECT_EQ(search.run(kInfinity, budget).stages.empty(), !best) << seed;
      for (const MilpBackend backend : built_backends()) {
        for (const StrategyMipForm form : {StrategyMipForm::path, StrategyMipForm::folded}) {
          if (form == StrategyMipForm::folded && !table.equal_layers()) continue;
          const std::optional<Ms> step = step_of(costs, form, backend);
          ASSERT_EQ(step.has_value(), best.has_value()) << seed << ' ' << its.pp;
          if (!best) continue;
          EXPECT_NEAR(*step, best->step_ms, 1e-6 * best->step_ms) << seed << ' ' << its.pp;
          folded += form == StrategyMipForm::folded ? 1 : 0;
          several += its.pp > 1 ? 1 : 0;
        }
      }
    }
  }
  if (built_backends().empty()) GTEST_SKIP() << "no backend is built in";
  EXPECT_GT(folded, 20);
  EXPECT_GT(several, 20);
}

// The solver returns only plans below the known one, and a true bound.
TEST(StrategyMip, WhatIsNotBelowIsNotFound) {
  if (built_backends().empty()) GTEST_SKIP() << "no backend is built in";
  int found = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const StrategyInstance instance = tiny_strategy(seed, 6);
    const StrategyTable table(instance);
    for (const StrategyClass& its : table.classes()) {
      const StrategyLayout layout = table.layouts(its).front();
      const StageCosts costs(table, its, layout);
      const std::optional<StrategyPlan> best = brute_force(narrowed_to(instance, its, layout));
      if (!best) continue;
      for (const double share : {0.9, 1.1}) {
        Budget budget;
        const Ms below = share * best->step_ms;
        const StrategyMipResult result =
            solve_strategy_mip(costs, {built_backends().front(), below}, budget);
        EXPECT_TRUE(result.complete) << result.detail;
        EXPECT_LE(std::min(result.bound, below), best->step_ms) << seed;
        EXPECT_EQ(result.stages.empty(), share < 1) << seed;
        found += result.stages.empty() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(found, 10);
}

TEST(StrategyMip, IsAMethodThatFindsTheOptimum) {
  if (built_backends().empty()) GTEST_SKIP() << "no backend is built in";
  for (std::uint64_t seed = 0; seed < 54; ++seed) {
    const StrategyInstance instance =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed) : tiny_experts(seed), seed);
    const std::optional<StrategyPlan> best = brute_force(instance);
    Budget budget;
    const Outcome outcome = solve(Instance(instance), {.method = "mip"}, budget);
    ASSERT_EQ(outcome.plan.has_value(), best.has_value()) << seed << outcome.detail;
    if (!best) continue;
    EXPECT_NEAR(*outcome.objective, best->step_ms, 1e-6 * best->step_ms) << seed;
    EXPECT_LE(outcome.bound, best->step_ms * (1 + 1e-9)) << seed;
    EXPECT_GE(outcome.bound, best->step_ms * (1 - 1e-5)) << seed;
    EXPECT_THAT(verify(instance, std::get<StrategyPlan>(*outcome.plan)), IsEmpty()) << seed;
  }
}

// UniAP's model gives the step time of its plan if sums over layers are exact: one sequence length,
// no level 3, no exchange. It then equals Alpa's model, and the optimum in one chunk.
TEST(Uniap, WithoutExchangesItIsTheBestInOneChunk) {
  if (built_backends().empty()) GTEST_SKIP() << "no backend is built in";
  int several = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    StrategyInstance instance =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed, 4) : tiny_experts(seed, 4), seed);
    instance.model.blocks.resize(1);
    instance.options.v = {1};
    std::erase(instance.options.zero, 3);
    if (instance.options.zero.empty()) instance.options.zero = {1};
    without_exchanges(instance);
    for (Tokens& length : instance.lengths) length = instance.lengths.front();
    if (!check(Instance(instance)).empty()) continue;
    const std::optional<StrategyPlan> best = brute_force(instance);
    Budget budget;
    const Outcome outcome = solve(Instance(instance), {.method = "uniap"}, budget);
    ASSERT_EQ(outcome.plan.has_value(), best.has_value()) << seed << outcome.detail;
    if (!best) continue;
    EXPECT_NEAR(*outcome.objective, best->step_ms, 1e-5 * best->step_ms) << seed;
    several += best->pp > 1 ? 1 : 0;
  }
  EXPECT_GT(several, 3);
}

// Its plans are valid for every instance, and never faster than the optimum.
TEST(Uniap, PlansAreValid) {
  if (built_backends().empty()) GTEST_SKIP() << "no backend is built in";
  int planned = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const StrategyInstance instance =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed, 4) : tiny_experts(seed, 4), seed);
    const StrategyTable table(instance);
    Budget budget;
    const UniapResult found = solve_uniap(table, {.backend = built_backends().back()}, budget);
    EXPECT_EQ(found.unsolved, 0) << found.detail;
    if (!found.plan) continue;
    ++planned;
    StrategyPlan plan = *found.plan;
    plan.instance_hash = instance_hash(instance);
    EXPECT_THAT(verify(instance, plan), IsEmpty()) << seed;
    EXPECT_GE(plan.step_ms, brute_force(instance)->step_ms * (1 - 1e-9)) << seed;
  }
  EXPECT_GT(planned, 10);
}

// A published model on eight devices: 32 layers on four stages, with a heavy head.
TEST(StrategyMip, OfAPublishedModelIsWhatTheSearchFinds) {
  if (built_backends().empty()) GTEST_SKIP() << "no backend is built in";
  StrategyInstance instance =
      *generate_strategy({.model = "llama3-8b", .nodes = 1}, std::vector<Tokens>(16, 2048));
  const StrategyTable table(instance);
  const StageCosts costs(table, {4, 1, 8}, {2, 1, 1, 1});
  Budget budget;
  StageSearch search(costs);
  const StageSearch::Answer answer = search.run(kInfinity, budget);
  ASSERT_FALSE(answer.stages.empty());
  const Ms least = compose_strategy(costs, answer.stages).step_ms;
  for (const MilpBackend backend : built_backends()) {
    const std::optional<Ms> step = step_of(costs, StrategyMipForm::folded, backend);
    ASSERT_TRUE(step);
    EXPECT_NEAR(*step, least, 1e-6 * least);
  }
}

}  // namespace
}  // namespace stowage::strategy_mip_solve_test
