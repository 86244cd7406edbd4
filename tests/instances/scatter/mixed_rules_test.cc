// The verifier's times of mixed micro-batches are those of the oracle, and no others are accepted.
#include <gtest/gtest.h>

#include <cstdint>

#include "instances/scatter/cost/mixed.h"
#include "instances/scatter/verify/verify.h"
#include "tests/oracles/scatter/mixed_brute_force.h"
#include "tests/tiny_mixed_scatter.h"

namespace stowage::scatter_mixed_rules_test {
namespace {

TEST(ScatterMixedRules, TimesAreThoseOfTheOracle) {
  int mixed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const ScatterInstance instance = tiny_mixed_scatter(seed, 5);
    const auto plan = mixed_brute_force(instance);
    if (!plan) continue;
    EXPECT_TRUE(verify(instance, *plan).empty()) << seed;
    for (std::size_t b = 0; b < plan->micro_batches.size(); ++b) {
      if (!mixed_times(instance, plan->micro_batches[b].groups)) continue;
      ++mixed;
      for (const double change : {0.99, 1.01}) {
        ScatterPlan other = *plan;
        other.micro_batches[b].makespan_ms *= change;
        EXPECT_FALSE(verify(instance, other).empty()) << seed;
      }
    }
  }
  EXPECT_GT(mixed, 30);
}

}  // namespace
}  // namespace stowage::scatter_mixed_rules_test
