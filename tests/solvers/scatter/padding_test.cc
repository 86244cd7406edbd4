// The oracle ladder of tests/solvers/scatter/ladder_test.cc for padding by the form of a group:
// sequences and rows, with exchanges, memory, rules and tensor parallelism.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "instances/scatter/table/group_form.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/solvers/scatter/rungs.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_padding_test {
namespace {

const auto kInstances = static_cast<std::uint64_t>(in_long_run(60, 1000));

// 1,000 steps: brute force, the verifier's own search and the search over all sets.
TEST(ScatterPadding, BruteForcePlansVerifyAndAreFoundAgain) {
  std::uint64_t compared = 0;
  std::uint64_t padded = 0;
  for (std::uint64_t seed = 0; compared < 1000; ++seed) {
    const ScatterInstance instance = tiny_padded_scatter(seed, 5, 6);
    const auto plan = brute_force(instance);
    if (!plan || instance.lengths.empty()) continue;
    ++compared;
    expect_found_again(instance, *plan, seed);
    if (instance.rules == without_rules_on_batches(instance).rules) {
      expect_sets_have_the_optimum(instance, *plan, seed);
    }
    for (const ScatterMicroBatch& batch : plan->micro_batches) {
      for (const ScatterGroup& group : batch.groups) {
        Tokens own = 0;
        for (const std::int64_t id : group.sequences) {
          own += padded_length(instance, instance.lengths[static_cast<std::size_t>(id)]);
        }
        padded += group.tokens > own ? 1 : 0;
      }
    }
  }
  EXPECT_GT(padded, 500) << "groups pad beyond the multiple that all share";
}

TEST(ScatterPadding, DocumentsReadBack) {
  std::set<std::string> hashes;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_padded_scatter(seed);
    hashes.insert(expect_read_back(instance, brute_force(instance), seed));
  }
  EXPECT_EQ(hashes.size(), kInstances);
}

TEST(ScatterPadding, BoundsAreBelowAndHeuristicsAboveTheOptimum) {
  for (std::uint64_t seed = 0; seed < 2 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_padded_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum) continue;
    expect_bounds_below_and_heuristics_above(instance, *optimum, seed, true);
  }
}

// A step with a smaller multiple in every place is never slower.
TEST(ScatterPadding, PaddingByDegreeIsNeverWorseThanByTheLargest) {
  std::uint64_t faster = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    ScatterInstance instance = tiny_timed_scatter(seed);
    instance.pad_multiple = 2 * instance.cluster.degrees.back();
    if (!instance.cluster.aligned) continue;  // the largest degree is no multiple of the others
    const auto before = brute_force(instance);
    if (!before) continue;
    instance.pad_multiple = 1;
    instance.padding = Padding{};
    const auto after = brute_force(instance);
    ASSERT_TRUE(after) << seed;
    EXPECT_LE(after->objective_ms, before->objective_ms + slack(before->objective_ms)) << seed;
    faster += after->objective_ms < 0.98 * before->objective_ms ? 1 : 0;
  }
  EXPECT_GT(faster, kInstances / 4);
}

// A merged table has the same sequences, none shorter or faster, on the same configurations.
TEST(ScatterPadding, MergedLengthsAreNoShorter) {
  std::uint64_t merged = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_padded_scatter(seed, 14);
    const ScatterTable fine(instance);
    const ScatterTable coarse = fine.merged(3);
    ASSERT_EQ(coarse.size(), fine.size());
    EXPECT_LE(coarse.kinds().size(), fine.kinds().size());
    merged += coarse.kinds().size() < fine.kinds().size() ? 1 : 0;
    for (int position = 0; position < fine.size(); ++position) {
      EXPECT_EQ(coarse.id(position), fine.id(position));
      EXPECT_GE(coarse.length(position), fine.length(position));
      for (int config = 0; config < static_cast<int>(fine.configs().size()); ++config) {
        EXPECT_EQ(coarse.holds(config, position), fine.holds(config, position));
        EXPECT_GE(coarse.load(position, config).time(), fine.load(position, config).time());
      }
    }
  }
  EXPECT_GT(merged, kInstances / 2);
}

class ScatterPaddingOf : public testing::TestWithParam<MilpBackend> {};

TEST_P(ScatterPaddingOf, StepMilpEqualsBruteForce) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_padded_scatter(seed, 4, 4);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    expect_milp_has_the_optimum(instance, *optimum, GetParam(), seed);
  }
}

TEST_P(ScatterPaddingOf, CertifiedBoundsAreBelowTheOptimum) {
  std::uint64_t certified = 0;
  double closed = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_padded_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    const Certified found = expect_certificates_hold(instance, *optimum, GetParam(), 20, seed);
    certified += found.certificates;
    if (optimum->objective_ms > 0) closed += found.highest / optimum->objective_ms;
  }
  EXPECT_GT(certified, kInstances / 3);
  EXPECT_GT(closed, 0.3 * static_cast<double>(kInstances));
}

TEST_P(ScatterPaddingOf, TheFacadeProvesTinySteps) {
  for (std::uint64_t seed = 0; seed < kInstances / 3; ++seed) {
    expect_facade_proves(tiny_padded_scatter(seed, 4, 4), GetParam(), seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ScatterPaddingOf, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScatterPaddingOf);

}  // namespace
}  // namespace stowage::scatter_padding_test
