#include "heuristics/scatter/improve/improvement_rounds.h"

#include <gtest/gtest.h>

#include "heuristics/scatter/published/homogeneous.h"
#include "instances/scatter/verify/verify.h"
#include "tests/instances/draw.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_improve_test {
namespace {

WorkingStep improved(const ScatterTable& table, WorkingStep step, int rounds,
                     const Budget& budget) {
  for (int round = 0; round < rounds; ++round) {
    improve(table, step, static_cast<std::uint64_t>(round), 3, budget);
  }
  return step;
}

// Steps of one micro-batch and of many, in every kind of round.
TEST(ScatterImprove, EachRoundStaysValidAndNeverLoses) {
  int many = 0;
  int better = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed, 14);
    if (!unplaceable_sequences(instance).empty()) continue;
    const ScatterTable table(instance);
    WorkingStep step = *batch_ada(table);
    many += step.size() >= 3;
    const Ms start = total(step);
    for (std::uint64_t round = 0; round < 10; ++round) {
      const Ms before = total(step);
      improve(table, step, round, seed, Budget());
      EXPECT_LE(total(step), before * (1 + 1e-12));
      EXPECT_TRUE(verify(instance, to_plan(instance, table, step)).empty()) << seed;
    }
    better += total(step) < start;
  }
  EXPECT_GT(many, 10);
  EXPECT_GT(better, 20);
}

// The first gains on a large step come from parts of it: each round takes a small share of the time
// for the whole step.
TEST(ScatterImprove, LargeStepsGainFromTheFirstRoundsOn) {
  ScatterInstance instance{.cluster = {.devices = 32, .memory_mib = 1000, .degrees = {1, 2, 4, 8}},
                           .model = {.activation_mib_per_token = 1},
                           .cost = {.quadratic_ms = 1e-4, .linear_ms = 0.01, .fixed_ms = 5}};
  Draw draw(7);
  for (int i = 0; i < 1600; ++i) {
    instance.lengths.push_back(draw.whole(1, i % 10 == 0 ? 7000 : 500));
  }
  const ScatterTable table(instance);
  const WorkingStep start = *batch_ada(table);
  ASSERT_GT(start.size(), 20U);
  const WorkingStep step = improved(table, start, 6, Budget());
  EXPECT_LT(total(step), 0.99 * total(start));
  EXPECT_TRUE(verify(instance, to_plan(instance, table, step)).empty());
  EXPECT_EQ(to_plan(instance, table, step),
            to_plan(instance, table, improved(table, start, 6, Budget())));
}

TEST(ScatterImprove, TheSeedDecidesAndTheBudgetEndsIt) {
  const ScatterInstance instance = tiny_scatter(11, 14);
  const ScatterTable table(instance);
  const WorkingStep start = *batch_ada(table);
  const auto plan = [&](int rounds, const Budget& budget) {
    return to_plan(instance, table, improved(table, start, rounds, budget));
  };
  EXPECT_EQ(plan(10, Budget()), plan(10, Budget()));
  const Ms before = total(start);
  EXPECT_LE(plan(3, Budget({.time_limit_s = 0})).objective_ms, before * (1 + 1e-12));
}

}  // namespace
}  // namespace stowage::scatter_improve_test
