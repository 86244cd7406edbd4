// The verifier's own search for the optimum, against brute force.
#include "instances/scatter/optimum.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_optimum_test {
namespace {

constexpr Ms kForever = std::numeric_limits<Ms>::infinity();

TEST(ScatterOptimum, IsThatOfBruteForceAndClaimsBelowItStand) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(in_long_run(400, 4000)); ++seed) {
    SCOPED_TRACE(seed);
    const ScatterInstance instance = tiny_scatter(seed + 70000, 7);
    const auto known = brute_force(instance);
    if (!known) {
      EXPECT_EQ(least_objective(instance, kForever), kForever);
      continue;
    }
    const Ms best = known->objective_ms;
    const Ms rounding = 1e-9 * best;
    EXPECT_NEAR(*least_objective(instance, kForever), best, rounding);
    EXPECT_NEAR(*least_objective(instance, 1.1 * best), best, rounding) << "a lie";
    EXPECT_NEAR(*least_objective(instance, best), best, rounding);
    EXPECT_EQ(least_objective(instance, 0.9 * best), 0.9 * best);
    ++compared;
  }
  EXPECT_GT(compared, 200);
}

TEST(ScatterOptimum, LeavesManySequencesAlone) {
  ScatterInstance instance = tiny_scatter(70000);
  instance.lengths.assign(kMostSequencesTriedAgain + 1, 1);
  EXPECT_FALSE(least_objective(instance, kForever));
}

}  // namespace
}  // namespace stowage::scatter_optimum_test
