#include "heuristics/scatter/improve/batch_lns.h"

#include <gtest/gtest.h>

#include "heuristics/scatter/published/homogeneous.h"
#include "instances/scatter/verify/verify.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_windows_test {
namespace {

TEST(ScatterWindows, StayValidNeverLoseAndOftenGain) {
  int many = 0;
  int better = 0;
  int fewer = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed, 20);
    if (!unplaceable_sequences(instance).empty()) continue;
    const ScatterTable table(instance);
    WorkingStep step = *batch_ada(table);
    const Ms before = total(step);
    const std::size_t count = step.size();
    replan_windows(table, step, {.rounds = 6, .moves = 100}, seed, Budget());
    EXPECT_LE(total(step), before * (1 + 1e-12)) << seed;
    EXPECT_TRUE(verify(instance, to_plan(instance, table, step)).empty()) << seed;
    many += count > 4;  // more than one window
    better += total(step) < before * (1 - 1e-6);
    fewer += step.size() < count;
  }
  EXPECT_GT(many, 5);
  EXPECT_GT(better, 12);
  EXPECT_GT(fewer, 3);
}

TEST(ScatterWindows, TheSeedDecidesAndTheBudgetEndsIt) {
  const ScatterInstance instance = tiny_scatter(12, 20);
  const ScatterTable table(instance);
  const WorkingStep start = *batch_ada(table);
  ASSERT_GE(start.size(), 2U);
  const auto plan = [&](const Budget& budget) {
    WorkingStep step = start;
    replan_windows(table, step, {.rounds = 6, .moves = 100}, 3, budget);
    return to_plan(instance, table, step);
  };
  const ScatterPlan once = plan(Budget());
  EXPECT_EQ(plan(Budget()), once);
  EXPECT_EQ(plan(Budget({.time_limit_s = 0})), to_plan(instance, table, start));
}

TEST(ScatterWindows, AStepOfOneMicroBatchHasNone) {
  ScatterInstance instance = tiny_scatter(11, 20);
  instance.lengths.assign(1, 1);
  const ScatterTable table(instance);
  const WorkingStep start = *batch_ada(table);
  WorkingStep step = start;
  replan_windows(table, step, {}, 0, Budget());
  EXPECT_EQ(to_plan(instance, table, step), to_plan(instance, table, start));
}

}  // namespace
}  // namespace stowage::scatter_windows_test
