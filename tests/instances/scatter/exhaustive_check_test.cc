// The verifier's own search for the optimum, against brute force.
#include "instances/scatter/verify/exhaustive_check.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_optimum_test {
namespace {

constexpr Ms kForever = std::numeric_limits<Ms>::infinity();

// Whether there is a plan. The search finds the optimum of brute force, and leaves a claim below
// it.
bool is_that_of_brute_force(const ScatterInstance& instance) {
  const auto known = brute_force(instance);
  if (!known) {
    EXPECT_EQ(least_objective(instance, kForever), kForever);
    return false;
  }
  const Ms best = known->objective_ms;
  const Ms rounding = 1e-9 * best;
  EXPECT_NEAR(*least_objective(instance, kForever), best, rounding);
  EXPECT_NEAR(*least_objective(instance, 1.1 * best), best, rounding) << "a lie";
  EXPECT_NEAR(*least_objective(instance, best), best, rounding);
  EXPECT_EQ(least_objective(instance, 0.9 * best), 0.9 * best);
  return true;
}

TEST(ScatterOptimum, IsThatOfBruteForceAndClaimsBelowItStand) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(in_long_run(400, 4000)); ++seed) {
    SCOPED_TRACE(seed);
    compared += is_that_of_brute_force(tiny_scatter(seed + 70000, 7)) ? 1 : 0;
  }
  EXPECT_GT(compared, 200);
}

// With rules, pipelines, whose longest micro-batch counts again, and ways to recompute.
TEST(ScatterOptimum, IsThatOfBruteForceForEveryKindOfStep) {
  const std::vector<ScatterInstance (*)(std::uint64_t, std::uint64_t, int)> kinds = {
      tiny_ruled_scatter, tiny_full_scatter, tiny_pipeline_scatter, tiny_recomputing_scatter,
      tiny_padded_scatter};
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    SCOPED_TRACE(kind);
    int compared = 0;
    const auto seeds = static_cast<std::uint64_t>(in_long_run(100, 4000));
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      SCOPED_TRACE(seed);
      compared += is_that_of_brute_force(kinds[kind](seed, 5, 6)) ? 1 : 0;
    }
    EXPECT_GT(compared, 30);
  }
}

TEST(ScatterOptimum, LeavesManySequencesAlone) {
  ScatterInstance instance = tiny_scatter(70000);
  instance.lengths.assign(kMaxSequencesTriedAgain + 1, 1);
  EXPECT_FALSE(least_objective(instance, kForever));
}

}  // namespace
}  // namespace stowage::scatter_optimum_test
