// The oracle ladder of tests/solvers/scatter/ladder_test.cc for terms of time: kinds of exchange,
// overlap, two bandwidths, costs per sequence, tiles and windows.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "instances/scatter/verify/verify.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/solvers/scatter/rungs.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_times_test {
namespace {

const auto kInstances = static_cast<std::uint64_t>(in_long_run(60, 1000));

TEST(ScatterTimes, BruteForcePlansVerifyAndAreFoundAgain) {
  std::set<ExchangeKind> used;
  for (std::uint64_t seed = 0; seed < 5 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_timed_scatter(seed);
    const auto plan = brute_force(instance);
    ASSERT_EQ(plan.has_value(), unplaceable_sequences(instance).empty()) << seed;
    if (!plan) continue;
    expect_found_again(instance, *plan, seed);
    if (!instance.lengths.empty()) expect_sets_have_the_optimum(instance, *plan, seed);
    for (const ScatterMicroBatch& batch : plan->micro_batches) {
      for (const ScatterGroup& group : batch.groups) used.insert(group.exchange);
    }
  }
  EXPECT_EQ(used.size(), exchange_names().size()) << "every kind is the best now and then";
}

TEST(ScatterTimes, DocumentsReadBack) {
  std::set<std::string> hashes;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_timed_scatter(seed);
    hashes.insert(expect_read_back(instance, brute_force(instance), seed));
  }
  EXPECT_EQ(hashes.size(), kInstances);
}

// A group that states another exchange than its own states a wrong time or a forbidden exchange.
TEST(ScatterTimes, AnotherExchangeIsRefused) {
  std::uint64_t tried = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_timed_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan || plan->micro_batches.empty()) continue;
    const ExchangeKind stated = plan->micro_batches[0].groups[0].exchange;
    for (std::size_t kind = 0; kind < exchange_names().size(); ++kind) {
      ScatterPlan lie = *plan;
      ScatterGroup& group = lie.micro_batches[0].groups[0];
      group.exchange = static_cast<ExchangeKind>(kind);
      if (group.exchange == stated) continue;
      const auto violations = verify(instance, lie);
      if (violations.empty()) continue;  // the two take the same time
      EXPECT_TRUE(violations[0].rule == "exchange" || violations[0].rule == "time")
          << seed << ' ' << violations[0].rule;
      ++tried;
    }
  }
  EXPECT_GT(tried, kInstances);
}

TEST(ScatterTimes, BoundsAreBelowAndHeuristicsAboveTheOptimum) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_timed_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum) continue;
    expect_bounds_below_and_heuristics_above(instance, *optimum, seed, true);
  }
}

class ScatterTimesOf : public testing::TestWithParam<MilpBackend> {};

TEST_P(ScatterTimesOf, StepMilpEqualsBruteForce) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_timed_scatter(seed, 5, 6);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    expect_milp_has_the_optimum(instance, *optimum, GetParam(), seed);
  }
}

// The certificates are valid, and not far below the optimum if compute hides no exchange.
TEST_P(ScatterTimesOf, CertifiedBoundsAreBelowTheOptimum) {
  std::uint64_t certified = 0;
  double closed = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_timed_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    const Certified found = expect_certificates_hold(instance, *optimum, GetParam(), 20, seed);
    certified += found.certificates;
    if (optimum->objective_ms > 0) closed += found.highest / optimum->objective_ms;
  }
  EXPECT_GT(certified, kInstances / 2);
  EXPECT_GT(closed, 0.5 * static_cast<double>(kInstances));
}

TEST_P(ScatterTimesOf, TheFacadeProvesTinySteps) {
  for (std::uint64_t seed = 0; seed < kInstances / 3; ++seed) {
    expect_facade_proves(tiny_timed_scatter(seed), GetParam(), seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ScatterTimesOf, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScatterTimesOf);

}  // namespace
}  // namespace stowage::scatter_times_test
