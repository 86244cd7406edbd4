// Steps of few sequences: the dynamic programme over subsets against brute force, and the results
// of `auto` with it.
#include "solvers/assign/exact/subset_dp.h"

#include <gtest/gtest.h>

#include "instances/assign/generate/generate.h"
#include "instances/assign/verify/verify.h"
#include "instances/numeric/numbers.h"
#include "solvers/assign/exact/subset_pairs.h"
#include "solvers/solve.h"
#include "tests/instances/draw.h"
#include "tests/oracles/assign/brute_force.h"
#include "tests/tiny_assign.h"

namespace stowage::assign_few_sequences_test {
namespace {

TEST(AssignFew, DisjointUnionsAreThoseOfPairs) {
  for (const std::size_t sequences : {3U, 6U, 8U}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      Draw draw(seed);
      const std::uint32_t subsets = 1U << sequences;
      SubsetPairs a(sequences);
      SubsetPairs b(sequences);
      SubsetPairs expected(sequences);
      for (std::uint32_t set = 0; set < subsets; ++set) {
        if (draw.below(5) == 0) a.insert(set);
        if (draw.below(2 + seed) == 0) b.insert(set);
      }
      for (std::uint32_t x = 0; x < subsets; ++x) {
        for (std::uint32_t y = 0; y < subsets; ++y) {
          if ((x & y) == 0 && a.has(x) && b.has(y)) expected.insert(x | y);
        }
      }
      const SubsetPairs made = disjoint_unions(a, b);
      for (std::uint32_t set = 0; set < subsets; ++set) {
        EXPECT_EQ(made.has(set), expected.has(set)) << sequences << ' ' << seed << ' ' << set;
      }
    }
  }
}

// With every relevant limit: none, just above the optimum, and the optimum itself.
TEST(AssignFew, AgreesWithBruteForce) {
  int planned = 0;
  int refuted = 0;
  for (std::uint64_t seed = 0; seed < 2500; ++seed) {
    const AssignInstance instance = tiny_assign(seed, 7);
    if (!unplaceable_sequences(instance).empty()) continue;
    ASSERT_TRUE(has_few_sequences(instance)) << seed;
    const auto optimum = brute_force(instance);
    const FewResult found = solve_few(instance, 0, kInfinity);
    ASSERT_TRUE(found.complete) << seed;
    ASSERT_EQ(found.plan.has_value(), optimum.has_value()) << seed;
    if (!optimum) {
      ++refuted;
      continue;
    }
    ++planned;
    EXPECT_TRUE(verify(instance, *found.plan).empty()) << seed;
    EXPECT_NEAR(found.plan->objective_ms, optimum->objective_ms, 1e-9 * optimum->objective_ms)
        << seed;
    const FewResult again = solve_few(instance, 0, optimum->objective_ms * (1 + 1e-7));
    ASSERT_TRUE(again.complete) << seed;
    if (optimum->objective_ms > 0) {
      EXPECT_TRUE(again.plan) << seed;
    }
    EXPECT_FALSE(solve_few(instance, 0, optimum->objective_ms * (1 - 1e-9)).plan) << seed;
  }
  EXPECT_GT(planned, 1000);
  EXPECT_GT(refuted, 20);
}

TEST(AssignFew, ABudgetThatEndsProvesNothing) {
  const Budget none({.time_limit_s = 0});
  EXPECT_FALSE(solve_few(tiny_assign(3, 7), 0, kInfinity, none).complete);
}

// A proof with few nodes agrees with the proof of the complete search.
TEST(AssignFew, StepsThatAreOverProveNothing) {
  int cut = 0;
  int whole = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const AssignInstance instance = tiny_assign(seed, 7);
    const FewResult all = solve_few(instance, 0, kInfinity);
    for (const std::int64_t steps : {1, 100, 1000, 10'000, 1'000'000}) {
      const FewResult found = solve_few(instance, 0, kInfinity, Budget(), steps);
      ++(found.complete ? whole : cut);
      if (!found.complete) continue;
      ASSERT_EQ(found.plan.has_value(), all.plan.has_value()) << seed << ' ' << steps;
      if (all.plan) {
        EXPECT_EQ(found.plan->objective_ms, all.plan->objective_ms) << seed << ' ' << steps;
      }
    }
  }
  EXPECT_GT(cut, 200);
  EXPECT_GT(whole, 200);
}

// On the strategies of a preset, for which closed bounds leave gaps of some per cent.
TEST(AssignFew, AutoProvesStepsOfPresets) {
  for (const char* model : {"llama-7b", "llama-32b"}) {
    const auto step =
        generate_assign({.model = model,
                         .source = {.kind = LengthSource::Kind::lognormal, .mu = 8.5, .sigma = 1},
                         .tokens = 400'000});
    AssignInstance instance = step->instance;
    ASSERT_GT(instance.lengths.size(), 16U) << model;
    instance.lengths.resize(16);
    Budget budget;
    const Outcome outcome = solve(instance, {}, budget);
    EXPECT_EQ(outcome.status, Status::optimal) << model << ' ' << outcome.detail;
  }
}

}  // namespace
}  // namespace stowage::assign_few_sequences_test
