#include "solvers/partition/micro_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "instances/numeric/random.h"
#include "tests/long_run.h"
#include "tests/oracles/partition/brute_force_micro_batches.h"

namespace stowage::partition_micro_batches_test {
namespace {

std::int64_t each_of(const MicroBatches& plan) { return std::ssize(plan.ranks.front()); }

TEST(MicroBatches, TheHeadersExample) {
  const MicroBatchInstance batch{.lengths = {7, 7, 7, 7}, .ranks = 2, .max_tokens = 8};
  ASSERT_TRUE(check(batch).empty());
  const MicroBatchOutcome outcome = plan_micro_batches(batch);
  ASSERT_TRUE(outcome.plan);
  EXPECT_EQ(each_of(*outcome.plan), 2);
  EXPECT_EQ(outcome.plan->fewest, 2);
  EXPECT_EQ(outcome.plan->fewest_by, "tokens");
  EXPECT_EQ(outcome.gap, 0);
}

TEST(MicroBatches, ErrorsAreThoseOfCheck) {
  const MicroBatchInstance batch{.lengths = {5, 9}, .ranks = 2, .max_tokens = 8};
  const MicroBatchOutcome outcome = plan_micro_batches(batch);
  EXPECT_FALSE(outcome.plan);
  EXPECT_EQ(outcome.errors, check(batch));
  EXPECT_FALSE(outcome.errors.empty());
}

// Five sequences above half the limit need three micro-batches on two ranks, and there are no six.
TEST(MicroBatches, NoMicroBatchIsEmpty) {
  const MicroBatchOutcome outcome =
      plan_micro_batches({.lengths = {6, 6, 6, 6, 6}, .ranks = 2, .max_tokens = 10});
  EXPECT_FALSE(outcome.plan);
  ASSERT_EQ(outcome.errors.size(), 1U);
  EXPECT_EQ(to_string(outcome.errors.front()),
            "E355 /ranks: must leave a sequence or group to each micro-batch: 2 ranks of 3 "
            "micro-batches, for 5");
}

MicroBatchInstance drawn_batch(std::mt19937_64& random, std::int64_t most) {
  MicroBatchInstance instance{.ranks = static_cast<std::int64_t>(1 + draw(random, 3)),
                              .multiple_of = static_cast<std::int64_t>(1 + draw(random, 5) / 4),
                              .at_least = static_cast<std::int64_t>(1 + draw(random, 5) / 4),
                              .quadratic = static_cast<std::int64_t>(draw(random, 2)),
                              .linear = static_cast<std::int64_t>(1 + draw(random, 30))};
  const auto n = static_cast<std::int64_t>(1 + draw(random, static_cast<std::uint64_t>(most)));
  for (std::int64_t i = 0; i < n; ++i) {
    instance.lengths.push_back(static_cast<Tokens>(1 + draw(random, 20)));
    if (n % 3 == 0) instance.kept.push_back(static_cast<std::int64_t>(draw(random, 6)));
  }
  instance.max_tokens = 20 + static_cast<Tokens>(draw(random, 60));
  return instance;
}

// Up to seven sequences: the optimum lies between the bounds and the plan, which need not reach it.
TEST(MicroBatches, OptimaLieBetweenBoundsAndPlans) {
  std::mt19937_64 random(5);
  int tried = 0;
  int optimal = 0;
  int none = 0;
  for (int trial = 0; trial < in_long_run(400, 4000); ++trial) {
    const MicroBatchInstance instance = drawn_batch(random, 7);
    if (!check(instance).empty()) continue;
    const MicroBatchOutcome outcome = plan_micro_batches(instance);
    const auto best = brute_force_micro_batches(instance);
    ASSERT_EQ(outcome.plan.has_value(), best.has_value()) << trial;
    if (!best) {
      ++none;
      continue;
    }
    const MicroBatches& plan = *outcome.plan;
    EXPECT_TRUE(verify(instance, plan).empty());
    EXPECT_LE(plan.fewest, best->each);
    EXPECT_EQ(each_of(plan), best->each);
    EXPECT_LE(plan.lower_bound, best->largest);
    EXPECT_GE(plan.largest, best->largest);
    optimal += plan.largest == best->largest ? 1 : 0;
    ++tried;
  }
  EXPECT_GT(none, 0);
  EXPECT_GE(20 * optimal, 19 * tried) << optimal << " of " << tried;
}

// Batches as trainers have them: the number of micro-batches is nearly always proven.
TEST(MicroBatches, ProvesMostBatches) {
  std::mt19937_64 random(9);
  int proven = 0;
  const int trials = in_long_run(100, 2000);
  for (int trial = 0; trial < trials; ++trial) {
    MicroBatchInstance instance{.ranks = std::int64_t{1} << draw(random, 5)};
    const auto n = static_cast<int>(64 + draw(random, 448));
    for (int i = 0; i < n; ++i) {
      const double e = -std::log1p(-static_cast<double>(draw(random, 1 << 20)) / (1 << 20));
      instance.lengths.push_back(std::min<Tokens>(16384, 64 + static_cast<Tokens>(1500 * e * e)));
    }
    instance.max_tokens =
        std::ranges::max(instance.lengths) + static_cast<Tokens>(draw(random, 16384));
    const MicroBatchOutcome outcome = plan_micro_batches(instance);
    if (!outcome.plan) continue;
    proven += each_of(*outcome.plan) == outcome.plan->fewest ? 1 : 0;
    if (outcome.plan->bound_by == "average") {
      EXPECT_LT(outcome.gap, 0.01) << trial;
    }
    EXPECT_EQ(plan_micro_batches(instance).plan, outcome.plan);
  }
  EXPECT_GE(100 * proven, 97 * trials) << proven << " of " << trials;
}

}  // namespace
}  // namespace stowage::partition_micro_batches_test
