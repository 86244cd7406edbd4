// Measured costs of layers: points, interpolation and extrapolation; planners and verifier agree;
// and a table made from the formula, which gives its times, bounds and plans.
#include "instances/strategy/cost/measured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/plan_builder.h"
#include "instances/strategy/planning_table.h"
#include "instances/strategy/verify/measured_reference.h"
#include "instances/strategy/verify/verify.h"
#include "tests/instances/draw.h"
#include "tests/oracles/strategy/brute_force.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_measured_test {
namespace {

using ::testing::IsEmpty;

TEST(MeasuredCosts, LinesBetweenPointsAndBeyond) {
  const StrategyMeasured entry{.tokens = {100, 200, 400}, .ms = {100, 300, 1000}};
  const auto of_one = [&](double length) { return measured_ms(entry, length, length * length); };
  EXPECT_DOUBLE_EQ(of_one(100), 100);
  EXPECT_DOUBLE_EQ(of_one(200), 300);
  EXPECT_DOUBLE_EQ(of_one(400), 1000);
  EXPECT_DOUBLE_EQ(of_one(50), 50);           // 1 ms for each token, as at 100
  EXPECT_DOUBLE_EQ(of_one(150), 150 * 1.25);  // between 1 and 1.5 ms
  EXPECT_DOUBLE_EQ(of_one(800), 800 * 4.5);   // 1 ms more for each 200
  EXPECT_DOUBLE_EQ(measured_ms(entry, 300, 2 * 150.0 * 150), 300 * 1.25);  // two of 150
  EXPECT_EQ(measured_ms(entry, 0, 0), 0);
  // A cost per token that falls is not extrapolated further down.
  const StrategyMeasured falling{.tokens = {100, 200}, .ms = {200, 300}};
  EXPECT_DOUBLE_EQ(measured_ms(falling, 1000, 1e6), 1500);
  const StrategyMeasured single{.tokens = {100}, .ms = {50}};
  EXPECT_DOUBLE_EQ(measured_ms(single, 1000, 1e6), 500);
}

TEST(MeasuredCosts, TwoOpinionsAgree) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Draw draw(seed);
    StrategyMeasured entry;
    Tokens length = 0;
    for (std::int64_t k = draw.whole(1, 5); k > 0; --k) {
      length += draw.whole(1, 1000);
      entry.tokens.push_back(length);
      entry.ms.push_back(draw.real(0.1, 10));
    }
    for (int k = 0; k < 20; ++k) {
      const double tokens = draw.real(1, 5000);
      const double squares = tokens * draw.real(1, 5000);
      const Ms ms = measured_ms(entry, tokens, squares);
      EXPECT_NEAR(ms, MeasuredReference{entry}.row_ms(tokens, squares), 1e-9 * ms) << seed;
    }
  }
}

// Returns the formula's values as a table for every block, layout and recomputation mode, at two
// lengths.
StrategyInstance measured_by_formula(const StrategyInstance& instance) {
  StrategyInstance made = instance;
  const Tokens longest = *std::ranges::max_element(instance.lengths);
  for (std::size_t block = 0; block < instance.model.blocks.size(); ++block) {
    StrategyInstance alone = instance;
    alone.model.vocabulary = 0;
    alone.model.blocks = {instance.model.blocks[block]};
    alone.model.blocks[0].count = 1;
    const StrategyTable table(alone);
    for (const std::int64_t tp : instance.options.tp) {
      for (const std::int64_t cp : instance.options.cp) {
        for (std::size_t k = 0; k < kStrategyRecomputes.size(); ++k) {
          const auto recompute = static_cast<StrategyRecompute>(k);
          StrategyMeasured entry{.block = static_cast<std::int64_t>(block),
                                 .tp = tp,
                                 .cp = cp,
                                 .recompute = recompute};
          const StageCosts costs(table, {1, 1, 1}, {tp, cp, 1});
          for (const Tokens length : {Tokens{1}, longest + 1}) {
            const auto s = static_cast<double>(length);
            const auto ranks = static_cast<double>(tp * cp);
            entry.tokens.push_back(length);
            entry.ms.push_back(
                costs.with_row(0, 0, 1, {1, recompute}, {s / ranks, s * s / ranks}).time_ms);
          }
          const auto same = [&](const StrategyMeasured& other) {
            return other.block == entry.block && other.tp == tp && other.cp == cp &&
                   other.recompute == recompute;
          };
          if (std::ranges::none_of(made.cost.measured, same)) made.cost.measured.push_back(entry);
        }
      }
    }
  }
  return made;
}

TEST(MeasuredCosts, ATableFromTheFormulaGivesTheSamePlans) {
  int plans = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    StrategyInstance derived = seed % 2 == 0 ? tiny_strategy(seed, 6) : tiny_experts(seed, 6);
    // the cost of a pass does not depend on tokens
    if (derived.cost.detail) derived.cost.detail->pass_ms = 0;
    const StrategyInstance measured = measured_by_formula(derived);
    ASSERT_EQ(*read_strategy_instance(write_strategy_instance(measured)), measured) << seed;
    const StrategyTable one(derived);
    const StrategyTable other(measured);
    const bool alike = one.equal_layers() == other.equal_layers();
    const auto best = brute_force(derived);
    const auto same = brute_force(measured);
    ASSERT_TRUE(!alike || best.has_value() == same.has_value()) << seed;
    if (!alike || !best) continue;
    EXPECT_NEAR(same->step_ms, best->step_ms, 1e-9 * best->step_ms) << seed;
    EXPECT_THAT(verify(measured, *same), IsEmpty()) << seed;
    // Among equal plans the one that rounding prefers is as good.
    StrategyPlan again = *best;
    again.instance_hash = instance_hash(measured);
    EXPECT_THAT(verify(measured, again), IsEmpty()) << seed;
    ++plans;
  }
  EXPECT_GT(plans, 20);
}

// Separate times for each entry, some of them missing: planners and verifier agree.
TEST(MeasuredCosts, EveryPlanIsWhatTheVerifierCounts) {
  int plans = 0;
  for (std::uint64_t seed = 0; seed < 110; ++seed) {
    Draw draw(seed);
    StrategyInstance instance =
        measured_by_formula(seed % 2 == 0 ? tiny_strategy(seed) : tiny_experts(seed));
    std::erase_if(instance.cost.measured,
                  [&](const StrategyMeasured&) { return draw.below(3) == 0; });
    for (StrategyMeasured& entry : instance.cost.measured) {
      for (Ms& ms : entry.ms) ms *= draw.real(0.3, 3);
    }
    instance.cluster.memory_mib = 1e12;
    const StrategyTable table(instance);
    for (const StrategyClass& its : table.classes()) {
      for (const StrategyLayout& layout : table.layouts(its)) {
        const StageCosts costs(table, its, layout);
        std::vector<StagePlan> stages;
        std::int64_t left = table.layers();
        for (std::int64_t s = 0; s < its.pp; ++s) {
          std::int64_t layers = its.v > 1 ? table.layers() / its.pp : 1;
          if (s == its.pp - 1) layers = left;
          left -= layers;
          stages.push_back({layers, table.choices()[draw.below(table.choices().size())]});
        }
        if (!costs.may_have(its.pp - 1, stages.back().layers)) continue;
        if (its.v > 1 && table.layers() % (its.pp * its.v) != 0) continue;
        const StrategyPlan plan = compose_strategy(costs, stages);
        ASSERT_THAT(verify(instance, plan), IsEmpty()) << seed;
        EXPECT_GE(plan.step_ms, costs.area() * (1 - 1e-9)) << seed;
        ++plans;
      }
    }
  }
  EXPECT_GT(plans, 200);
}

}  // namespace
}  // namespace stowage::strategy_measured_test
