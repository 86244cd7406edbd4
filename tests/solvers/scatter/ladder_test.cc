// The oracle ladder of the scatter family: brute force = MILP by GLPK = MILP by CBC, every bound is
// at most the optimum, every heuristic at least, and every plan verifies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "formulations/scatter/bounds.h"
#include "formulations/scatter/lp/class_lp.h"
#include "formulations/scatter/milp.h"
#include "heuristics/scatter/registry.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/incumbent.h"
#include "solvers/scatter/bounds/micro_batch_bound.h"
#include "solvers/scatter/exact/scatter_milp.h"
#include "solvers/scatter/published/flexsp.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_ladder_test {
namespace {

// Branch and bound is more than ten times slower under a sanitizer, which looks for other faults
// than wrong optima.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kInstances = 80;
#else
const auto kInstances = static_cast<std::uint64_t>(in_long_run(240, 2000));
#endif
constexpr std::uint64_t kShards = 8;  // tests that can run in parallel
constexpr double kTolerance = 1e-6;

double slack(double value) { return kTolerance * std::max(1.0, value); }

class ScatterLadder : public testing::TestWithParam<MilpBackend> {};

TEST(ScatterLadderOracle, BruteForcePlansVerify) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed);
    const auto plan = brute_force(instance);
    ASSERT_EQ(plan.has_value(), unplaceable_sequences(instance).empty()) << seed;
    if (!plan) continue;
    EXPECT_TRUE(verify(instance, *plan).empty()) << seed;
  }
}

// Brute force agrees with a second, independent oracle: every assignment of sequences to numbered
// groups of numbered micro-batches.
TEST(ScatterLadderOracle, BruteForceAgreesWithPlainEnumeration) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 0; seed < kInstances / 5; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed, 3);
    if (instance.lengths.empty() || !unplaceable_sequences(instance).empty()) continue;
    const std::size_t n = instance.lengths.size();
    const std::size_t labels = n * n;  // label = micro-batch * n + group
    double best = milp::kInfinity;
    std::vector<std::size_t> label(n, 0);
    const auto& degrees = instance.cluster.degrees;
    for (std::size_t code = 0, all = static_cast<std::size_t>(std::pow(labels, n)); code < all;
         ++code) {
      std::size_t rest = code;
      for (std::size_t k = 0; k < n; ++k, rest /= labels) label[k] = rest % labels;
      // Tries every choice of degrees for the labels in use.
      std::vector<std::size_t> used = label;
      std::ranges::sort(used);
      used.erase(std::unique(used.begin(), used.end()), used.end());
      const auto choices = static_cast<std::size_t>(std::pow(degrees.size(), used.size()));
      for (std::size_t choice = 0; choice < choices; ++choice) {
        std::vector<MicroBatchChoice> step(n);
        std::size_t digits = choice;
        std::vector<int> devices(n, 0);
        bool fits = true;
        for (const std::size_t group : used) {
          GroupChoice made{.degree = degrees[digits % degrees.size()]};
          digits /= degrees.size();
          for (std::size_t k = 0; k < n; ++k) {
            if (label[k] == group) made.sequences.push_back(static_cast<std::int64_t>(k));
          }
          devices[group / n] += made.degree;
          fits = fits && devices[group / n] <= instance.cluster.devices;
          step[group / n].push_back(std::move(made));
        }
        if (!fits) continue;
        const ScatterPlan plan = compose_plan(instance, step);
        if (plan.objective_ms < best && verify(instance, plan).empty()) best = plan.objective_ms;
      }
    }
    EXPECT_NEAR(brute_force(instance)->objective_ms, best, 1e-9 * best) << seed;
    ++compared;
  }
  EXPECT_GT(compared, kInstances / 10);
}

TEST(ScatterLadderOracle, BoundsAreBelowAndHeuristicsAboveTheOptimum) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum) continue;
    for (const NamedBound& bound : scatter_bounds(ScatterTable(instance))) {
      EXPECT_LE(bound.value, optimum->objective_ms + slack(optimum->objective_ms))
          << bound.name << ' ' << seed;
    }
    for (const ScatterHeuristic& heuristic : heuristics(instance)) {
      const auto plan = heuristic.run(instance, ScatterTable(instance), seed, Budget());
      if (!plan) continue;
      EXPECT_GE(plan->objective_ms, optimum->objective_ms - slack(optimum->objective_ms))
          << heuristic.name << ' ' << seed;
      EXPECT_TRUE(verify(instance, *plan).empty()) << heuristic.name << ' ' << seed;
    }
  }
}

// The whole-step MILP with a trivial start, so that it must find the optimum itself.
class ScatterLadderShard : public testing::TestWithParam<std::tuple<MilpBackend, std::uint64_t>> {};

TEST_P(ScatterLadderShard, StepMilpEqualsBruteForce) {
  const auto [backend, shard] = GetParam();
  for (std::uint64_t seed = shard; seed < kInstances; seed += kShards) {
    const ScatterInstance instance = tiny_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    Budget budget;
    Incumbent incumbent(instance, budget, {});
    for (const ScatterHeuristic& heuristic : heuristics(instance)) {
      if (heuristic.name == "batch-ada") {
        incumbent.offer(*heuristic.run(instance, ScatterTable(instance), 0, budget), 'H',
                        heuristic.name);
      }
    }
    EXPECT_EQ(solve_step_milp(instance, {.backend = backend}, incumbent, budget), StoppedBy::proof)
        << seed;
    EXPECT_NEAR(incumbent.plan()->objective_ms, optimum->objective_ms, slack(optimum->objective_ms))
        << seed;
    EXPECT_NEAR(incumbent.bound(), optimum->objective_ms, slack(optimum->objective_ms)) << seed;
    // The numbers of a step may differ so much that GLPK's answer comes with a warning; no call may
    // fail.
    const std::string detail = incumbent.report().detail;
    EXPECT_TRUE(detail.empty() || detail.find("far apart for GLPK") != std::string::npos) << detail;
  }
}

// GLPK's pseudo-cost branching stops with a failed assertion on these; CBC with CglProbing among
// its cuts called 7 the optimum of the class MIP of 452, where 6 devices do.
TEST_P(ScatterLadder, ModelsThatBrokeABackendOnce) {
  const ScatterInstance assertion = tiny_scatter(318);
  Budget budget;
  const MilpResult published =
      solve_milp(GetParam(),
                 build_scatter_milp(assertion, exact_classes(ScatterTable(assertion)),
                                    {.slots = 1, .strengthened = false})
                     .model,
                 {}, budget);
  EXPECT_EQ(published.status, MilpStatus::infeasible) << published.detail;

  const ScatterInstance probing = tiny_scatter(452);
  const ScatterClassLp mip =
      build_scatter_class_lp(probing, exact_classes(ScatterTable(probing)), 44.6, true);
  const MilpResult devices = solve_milp(GetParam(), mip.model, {}, budget);
  EXPECT_EQ(devices.status, MilpStatus::optimal) << devices.detail;
  EXPECT_NEAR(devices.objective, 6, 1e-6);
}

// One micro-batch: the published model and the strengthened one have the same optimum.
TEST_P(ScatterLadder, PublishedAndStrengthenedModelsAgree) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 0; seed < kInstances / 4; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed);
    if (instance.lengths.empty()) continue;
    const std::vector<LengthClass> classes = exact_classes(ScatterTable(instance));
    std::vector<MilpResult> results;
    for (const bool strengthened : {false, true}) {
      Budget budget;
      results.push_back(solve_milp(
          GetParam(),
          build_scatter_milp(instance, classes, {.slots = 1, .strengthened = strengthened}).model,
          {}, budget));
    }
    ASSERT_EQ(results[0].status, results[1].status) << seed;
    if (results[0].status != MilpStatus::optimal) continue;
    EXPECT_NEAR(results[0].objective, results[1].objective, slack(results[0].objective)) << seed;
    ++compared;
  }
  EXPECT_GT(compared, kInstances / 10);
}

TEST_P(ScatterLadder, ClassBoundsAreBelowTheOptimumAndTheMipIsTheStronger) {
  std::uint64_t improved = 0;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 0; seed < kInstances / 4; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || optimum->micro_batches.size() != 1) continue;
    const ScatterTable table(instance);
    const Ms known = scatter_bounds(table).back().value;
    Ms last = known;
    for (const bool integral : {false, true}) {
      Budget budget;
      std::string failure;
      const Ms bound = class_bound(instance, exact_classes(table), GetParam(), integral, last,
                                   2 * optimum->objective_ms, budget, failure);
      failed += !failure.empty();  // the backend failed, which refutes nothing
      EXPECT_LE(bound, optimum->objective_ms + slack(optimum->objective_ms)) << seed;
      EXPECT_GE(bound, last) << seed;
      last = bound;
    }
    improved += last > known + slack(known);
  }
  EXPECT_GT(improved, kInstances / 40);
  EXPECT_LE(failed, kInstances / 400);
}

TEST_P(ScatterLadder, FlexspIsValidAndNoBetterThanTheOptimum) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kInstances / 7; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum) continue;
    Budget budget;
    const FlexspResult result =
        flexsp(instance, {.backend = GetParam(), .milp_seconds = milp::kInfinity}, budget);
    if (!result.plan) continue;  // a chunk that the method built may be infeasible
    ++planned;
    EXPECT_TRUE(verify(instance, *result.plan).empty()) << seed;
    EXPECT_GE(result.plan->objective_ms, optimum->objective_ms - slack(optimum->objective_ms));
    EXPECT_EQ(result.milps_stopped, 0);
  }
  EXPECT_GT(planned, kInstances / 14);
}

TEST_P(ScatterLadder, TheFacadeProvesTinySteps) {
  for (std::uint64_t seed = 0; seed < kInstances / 7; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed);
    const auto optimum = brute_force(instance);
    Budget budget;
    const Outcome outcome = solve(instance, {.method = "exact", .backend = GetParam()}, budget);
    if (!optimum) {
      EXPECT_EQ(outcome.status, Status::infeasible) << seed;
      EXPECT_EQ(outcome.unplaceable, unplaceable_sequences(instance)) << seed;
      continue;
    }
    EXPECT_EQ(outcome.status, Status::optimal) << seed << ' ' << outcome.detail;
    EXPECT_EQ(outcome.stopped_by, StoppedBy::proof) << seed;
    EXPECT_NEAR(*outcome.objective, optimum->objective_ms, slack(optimum->objective_ms)) << seed;
    EXPECT_LE(outcome.bound, *outcome.objective) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ScatterLadderShard,
                         testing::Combine(testing::ValuesIn(built_backends()),
                                          testing::Range(std::uint64_t{0}, kShards)),
                         [](const auto& shard) {
                           return std::string(name(std::get<0>(shard.param))) + "_" +
                                  std::to_string(std::get<1>(shard.param));
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScatterLadderShard);
INSTANTIATE_TEST_SUITE_P(Backends, ScatterLadder, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScatterLadder);

}  // namespace
}  // namespace stowage::scatter_ladder_test
