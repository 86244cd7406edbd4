// Pipelines of strategy plans pass by pass: the sums over passes equal the formulas of
// docs/reference/strategy.md where these are exact.
#include "instances/strategy/cost/schedules.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan_builder.h"
#include "instances/strategy/planning_table.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_schedules_test {
namespace {

// Calls `look(costs, plan)` for every configuration with equal stages of an instance.
template <class Look>
void each_plan(const StrategyInstance& instance, Look look) {
  const StrategyTable table(instance);
  for (const StrategyClass& its : table.classes()) {
    if (table.layers() % its.pp != 0) continue;
    for (const StrategyLayout& layout : table.layouts(its)) {
      const StageCosts costs(table, its, layout);
      if (!costs.may_have(its.pp / 2, table.layers() / its.pp)) continue;
      for (const StageChoice& choice : table.choices()) {
        const std::vector<StagePlan> stages(at(its.pp), {table.layers() / its.pp, choice});
        look(costs, compose_strategy(costs, stages));
      }
    }
  }
}

TEST(StrategySchedules, PassesAddUpToTheTimeOfAStage) {
  int split = 0;
  for (std::uint64_t seed = 0; seed < 160; ++seed) {
    const StrategyInstance instance = tiny_strategy(seed);
    each_plan(instance, [&](const StageCosts& costs, const StrategyPlan& plan) {
      std::int64_t first = 0;
      for (std::size_t s = 0; s < plan.stages.size(); ++s) {
        const StrategyStage& stage = plan.stages[s];
        const PassTimes times =
            costs.passes(static_cast<std::int64_t>(s), first, stage.layers, choice_of(stage));
        first += stage.layers;
        const Ms sum = times.forward + times.backward + times.weights;
        ASSERT_NEAR(sum, stage.time_ms, 1e-12 * stage.time_ms) << seed;
        ASSERT_GT(times.forward, 0) << seed;
        // attention and exchange in addition to products
        ASSERT_GE(times.backward, times.weights) << seed;
        ASSERT_GT(times.weights, 0) << seed;
        ++split;
      }
    });
  }
  EXPECT_GT(split, 1000);
}

TEST(StrategySchedules, NoPlanIsBelowTheSharedWork) {
  int near = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const StrategyInstance instance = tiny_strategy(seed);
    each_plan(instance, [&](const StageCosts& costs, const StrategyPlan& plan) {
      ASSERT_LE(costs.area(), plan.step_ms) << seed;
      near += costs.area() > 0.95 * plan.step_ms;
    });
  }
  EXPECT_GT(near, 100);
}

// The memory also: 1F1B and interleaved hold M2, and ZB-H1 and ZB-H2 never less.
TEST(StrategySchedules, EqualStagesTakeTheStepOfTheFormula) {
  int seen = 0;
  int chunked = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    StrategyInstance instance = tiny_strategy(seed);
    instance.model.vocabulary = 0;  // otherwise the last stage takes longer
    instance.options.zero = {1};
    each_plan(instance, [&](const StageCosts&, const StrategyPlan& plan) {
      const auto schedules = strategy_schedules(instance, plan);
      ASSERT_EQ(schedules.has_value(), plan.pp > 1) << seed;
      if (!schedules) return;
      const StrategySchedule& planned = schedules->front();
      Mib most = 0;
      bool equal = true;
      for (const StrategyStage& stage : plan.stages) {
        most = std::max(most, stage.memory_mib);
        equal = equal && stage.time_ms == plan.stages.front().time_ms;
      }
      ASSERT_NEAR(planned.memory_mib, most, 1e-9 * most) << seed;
      for (const StrategySchedule& its : *schedules) {
        ASSERT_GE(its.run.end, least_end(its.pipeline) * (1 - 1e-12)) << seed;
        ASSERT_GE(its.memory_mib, (*schedules)[0].memory_mib * (plan.v == 1 ? 1 - 1e-9 : 0));
      }
      if (!equal) return;
      const Ms time = plan.stages.front().time_ms;
      const auto p = static_cast<double>(plan.pp);
      const auto m = static_cast<double>(plan.micro_batches);
      const Ms formula = m * time + (p - 1) * time / static_cast<double>(plan.v);
      ASSERT_NEAR(planned.run.end, formula, 1e-9 * formula) << seed;
      ++seen;
      chunked += plan.v > 1;
    });
  }
  EXPECT_GT(seen, 300);
  EXPECT_GT(chunked, 20);
}

// Attention has no gradient of weights: with a of its time to that of products forward, ZB-H1 takes
// 2 / (3 + 3.5 a) of the bubble away.
TEST(StrategySchedules, LongSequencesLeaveZeroBubbleLess) {
  for (const Tokens length : {1024, 65536, 262144}) {
    const StrategyInstance instance{
        .model = {.hidden = 4096, .heads = 32, .blocks = {{.count = 8, .ffn = 11008}}},
        .cluster = {.nodes = 1, .devices_per_node = 4, .memory_mib = 1e6, .mib_per_ms = {1e9, 1e9}},
        .options = {.pp = {4}, .recompute = {StrategyRecompute::none}},
        .lengths = std::vector<Tokens>(16, length)};
    const StrategyTable table(instance);
    const StageCosts costs(table, {4, 1, 16}, {1, 1, 1, 1});
    const StrategyPlan plan =
        compose_strategy(costs, std::vector<StagePlan>(4, {2, {1, StrategyRecompute::none}}));
    const auto schedules = strategy_schedules(instance, plan);
    ASSERT_TRUE(schedules);
    const PassTimes& times = (*schedules)[1].pipeline.rows.front().front();
    const double a = times.forward / times.weights - 1;
    const double taken = 1 - (*schedules)[1].run.idle.front() / (*schedules)[0].run.idle.front();
    EXPECT_NEAR(taken, 2 / (3 + 3.5 * a), 0.001) << length;
    EXPECT_LT((*schedules)[1].run.end, (*schedules)[0].run.end);
  }
}

TEST(StrategySchedules, TooManyPassesAreNotSimulated) {
  const StrategyInstance instance{
      .model = {.hidden = 64, .heads = 8, .blocks = {{.count = 4, .ffn = 64}}},
      .cluster = {.nodes = 1, .devices_per_node = 4, .memory_mib = 1e6},
      .options = {.pp = {4}},
      .lengths = {64}};
  StrategyPlan plan{.pp = 4, .micro_batches = 1'000'000};
  EXPECT_FALSE(strategy_schedules(instance, plan));
}

}  // namespace
}  // namespace stowage::strategy_schedules_test
