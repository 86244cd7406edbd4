// The oracle ladder of tests/solvers/scatter/ladder_test.cc for activations that leave for the
// host: with padding, recomputation, exchanges, measured times, rules and limits of the host.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "formulations/scatter/bounds.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/table/group_form.h"
#include "instances/scatter/verify/reference_counts.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/solvers/scatter/rungs.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_offload_test {
namespace {

const auto kInstances = static_cast<std::uint64_t>(in_long_run(60, 1000));

bool offloads(const ScatterPlan& plan) {
  for (const ScatterMicroBatch& batch : plan.micro_batches) {
    for (const ScatterGroup& group : batch.groups) {
      if (group.offload > 0) return true;
    }
  }
  return false;
}

// 1,000 steps: brute force, the verifier's own search and the search over all sets.
TEST(ScatterOffload, BruteForcePlansVerifyAndAreFoundAgain) {
  std::uint64_t compared = 0;
  std::uint64_t leaving = 0;
  for (std::uint64_t seed = 0; compared < 1000; ++seed) {
    const ScatterInstance instance = tiny_offload_scatter(seed, 5, 6);
    const auto plan = brute_force(instance);
    if (!plan || instance.lengths.empty()) continue;
    ++compared;
    expect_found_again(instance, *plan, seed);
    if (instance.rules == without_rules_on_batches(instance).rules) {
      expect_sets_have_the_optimum(instance, *plan, seed);
    }
    leaving += offloads(*plan) ? 1 : 0;
  }
  EXPECT_GT(leaving, 250);
}

TEST(ScatterOffload, DocumentsReadBack) {
  std::set<std::string> hashes;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_offload_scatter(seed);
    hashes.insert(expect_read_back(instance, brute_force(instance), seed));
  }
  EXPECT_EQ(hashes.size(), kInstances);
}

TEST(ScatterOffload, BoundsAreBelowAndHeuristicsAboveTheOptimum) {
  std::uint64_t planned = 0;
  std::uint64_t best_found = 0;
  for (std::uint64_t seed = 0; seed < 4 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_offload_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    EXPECT_EQ(least_micro_batches(ScatterTable(instance)),
              true_fewest_micro_batches(instance, true_length_counts(instance)))
        << seed;
    const HeuristicPlans made = expect_bounds_below_and_heuristics_above(instance, *optimum, seed);
    planned += made.fast;
    best_found += made.fast_is_best;
  }
  EXPECT_GT(best_found, planned * 3 / 4) << "of " << planned;
}

// Whoever may offload more, faster, or with more of the host is never slower; without offload, the
// same plans are there.
TEST(ScatterOffload, OffloadIsNeverWorse) {
  std::uint64_t faster = 0;
  std::uint64_t only = 0;
  for (std::uint64_t seed = 0; seed < 4 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_offload_scatter(seed);
    ScatterInstance plain = instance;
    plain.model.offload.reset();
    ScatterInstance slower = instance;
    slower.model.offload->out_mib_per_ms /= 2;
    slower.model.offload->in_mib_per_ms /= 2;
    ScatterInstance smaller = instance;
    smaller.model.offload->host_mib = instance.model.offload->host_mib.value_or(20) / 2;
    const auto with = brute_force(instance);
    for (const ScatterInstance& other : {plain, slower, smaller}) {
      const auto without = brute_force(other);
      if (!without) {
        only += with ? 1 : 0;
        continue;
      }
      ASSERT_TRUE(with) << seed;
      EXPECT_LE(with->objective_ms, without->objective_ms + slack(without->objective_ms)) << seed;
      faster += with->objective_ms < 0.99 * without->objective_ms ? 1 : 0;
    }
    if (const auto plan = brute_force(plain)) {
      EXPECT_FALSE(offloads(*plan)) << seed;
      EXPECT_TRUE(verify(instance, *plan).empty()) << seed << all_of(verify(instance, *plan));
    }
  }
  EXPECT_GT(faster, kInstances / 2);
  EXPECT_GT(only, kInstances / 10);
}

// `fast` and `auto` are never slower than without offload.
TEST(ScatterOffload, PlansAreNeverSlowerThanWithout) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_offload_scatter(seed, 14);
    const auto plain = without_offload(instance);
    if (!plain || instance.lengths.empty()) continue;
    for (const char* method : {"fast", "batch-ada", "bytescale"}) {
      Budget budget;
      Budget other;
      const Outcome with = solve(instance, {.method = method}, budget);
      const Outcome without = solve(*plain, {.method = method}, other);
      if (!without.objective) continue;
      ASSERT_TRUE(with.objective) << method << seed;
      EXPECT_TRUE(with.violations.empty()) << method << seed;
      EXPECT_LE(*with.objective, *without.objective * (1 + 1e-12)) << method << seed;
    }
  }
}

class ScatterOffloadOf : public testing::TestWithParam<MilpBackend> {};

TEST_P(ScatterOffloadOf, StepMilpEqualsBruteForce) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 0; compared < kInstances; ++seed) {
    const ScatterInstance instance = tiny_offload_scatter(seed, 4, 4);
    if (!instance.cost.table.empty()) continue;  // measured times have no MILP
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    ++compared;
    expect_milp_has_the_optimum(instance, *optimum, GetParam(), seed);
  }
}

// Certificates are valid, and refused or true where less memory is needed.
TEST_P(ScatterOffloadOf, CertifiedBoundsAreBelowTheOptimum) {
  std::uint64_t certified = 0;
  std::uint64_t refused = 0;
  double closed = 0;
  double planned = 0;
  for (std::uint64_t seed = 0; seed < 2 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_offload_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    ScatterInstance plain = instance;
    plain.model.offload.reset();
    const auto best_of_plain = brute_force(plain);
    ScatterInstance more = instance;
    more.model.offload->host_mib.reset();
    more.model.offload->mib_per_token = 1;
    if (!more.cost.table.empty()) more = instance;
    const auto best_of_more = brute_force(more);
    const auto look = [&](const ScatterCertificate& certificate) {
      if (best_of_more) {
        refused += refused_or_true(more, best_of_more->objective_ms, certificate, seed);
      }
      if (best_of_plain) {
        refused += refused_or_true(plain, best_of_plain->objective_ms, certificate, seed);
      }
    };
    const Certified found =
        expect_certificates_hold(instance, *optimum, GetParam(), 20, seed, look);
    certified += found.certificates;
    if (!(optimum->objective_ms > 0)) continue;
    closed += found.highest / optimum->objective_ms;
    planned += 1;
  }
  EXPECT_GT(certified, kInstances / 3);
  EXPECT_GT(refused, kInstances / 10);
  EXPECT_GT(closed, 0.5 * planned);
}

TEST_P(ScatterOffloadOf, TheFacadeProvesTinySteps) {
  for (std::uint64_t seed = 0; seed < kInstances / 2; ++seed) {
    const ScatterInstance instance = tiny_offload_scatter(seed, 4, 4);
    if (instance.cost.table.empty()) expect_facade_proves(instance, GetParam(), seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ScatterOffloadOf, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScatterOffloadOf);

}  // namespace
}  // namespace stowage::scatter_offload_test
