// The oracle ladder of tests/solvers/scatter/ladder_test.cc for terms of time: kinds of exchange,
// overlap, two bandwidths, costs per sequence, tiles and windows.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "formulations/scatter/bounds.h"
#include "heuristics/scatter/registry.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/json.h"
#include "instances/scatter/optimum.h"
#include "instances/scatter/verify.h"
#include "solvers/incumbent.h"
#include "solvers/scatter/exact.h"
#include "solvers/scatter/profile_bound.h"
#include "solvers/scatter/step_bound.h"
#include "solvers/scatter/subsets.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_scatter.h"

namespace stowage {
namespace {

const auto kInstances = static_cast<std::uint64_t>(in_long_run(60, 1000));
constexpr double kTolerance = 1e-6;

std::string all_of(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) text += ' ' + to_string(violation);
  return text;
}

double slack(double value) { return kTolerance * std::max(1.0, value); }

TEST(ScatterTimes, BruteForcePlansVerifyAndAreFoundAgain) {
  std::set<ExchangeKind> used;
  for (std::uint64_t seed = 0; seed < 5 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_timed_scatter(seed);
    const auto plan = brute_force(instance);
    ASSERT_EQ(plan.has_value(), unplaceable_sequences(instance).empty()) << seed;
    if (!plan) continue;
    EXPECT_TRUE(verify(instance, *plan).empty()) << seed << all_of(verify(instance, *plan));
    const double objective = plan->objective_ms;
    EXPECT_NEAR(*least_objective(instance, 2 * objective + 1), objective, slack(objective)) << seed;
    Budget budget;
    const ScatterTable table(instance);
    const auto step = best_of_subsets(table, objective + slack(objective), budget);
    if (!instance.lengths.empty()) {
      ASSERT_TRUE(step) << seed;
      EXPECT_NEAR(total(*step), objective, slack(objective)) << seed;
    }
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
    const auto back = read_scatter_instance(write_scatter_instance(instance));
    ASSERT_TRUE(back) << seed << to_string(back.errors()[0]);
    EXPECT_EQ(instance_hash(*back), instance_hash(instance)) << seed;
    hashes.insert(instance_hash(instance));
    EXPECT_TRUE(surely_sound(instance)) << seed;
    const auto plan = brute_force(instance);
    if (!plan) continue;
    const auto same = read_scatter_plan(write_scatter_plan(*plan));
    ASSERT_TRUE(same) << seed;
    EXPECT_EQ(*same, *plan) << seed;
  }
  EXPECT_EQ(hashes.size(), kInstances);
}

// A group that states another exchange than its own states a wrong time or one it may not use.
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
    const double best = optimum->objective_ms;
    for (const NamedBound& bound : scatter_bounds(ScatterTable(instance))) {
      EXPECT_LE(bound.value, best + slack(best)) << bound.name << ' ' << seed;
    }
    for (const ScatterHeuristic& heuristic : heuristics(instance)) {
      const auto plan = heuristic.run(instance, ScatterTable(instance), seed, Budget());
      if (!plan) continue;
      EXPECT_GE(plan->objective_ms, best - slack(best)) << heuristic.name << ' ' << seed;
      EXPECT_TRUE(verify(instance, *plan).empty())
          << heuristic.name << ' ' << seed << all_of(verify(instance, *plan));
    }
  }
}

class ScatterTimesOf : public testing::TestWithParam<MilpBackend> {};

TEST_P(ScatterTimesOf, StepMilpEqualsBruteForce) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_timed_scatter(seed, 5, 6);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    const double best = optimum->objective_ms;
    Budget budget;
    Incumbent incumbent(instance, budget, {});
    for (const ScatterHeuristic& heuristic : heuristics(instance)) {
      if (heuristic.name == "batch-ada") {
        incumbent.offer(*heuristic.run(instance, ScatterTable(instance), 0, budget), 'H',
                        heuristic.name);
      }
    }
    EXPECT_EQ(solve_step_milp(instance, {.backend = GetParam()}, incumbent, budget),
              StoppedBy::proof)
        << seed;
    EXPECT_NEAR(incumbent.plan()->objective_ms, best, slack(best)) << seed;
    EXPECT_NEAR(incumbent.bound(), best, slack(best)) << seed;
  }
}

// With certificates that hold, and that are not far below where compute hides nothing.
TEST_P(ScatterTimesOf, CertifiedBoundsAreBelowTheOptimum) {
  std::uint64_t certified = 0;
  double closed = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_timed_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    const double best = optimum->objective_ms;
    double highest = 0;
    const auto look = [&](const ScatterCertificate& certificate) {
      const CertificateCheck check = check_certificate(instance, certificate);
      EXPECT_TRUE(check.violations.empty()) << seed << ' ' << all_of(check.violations);
      EXPECT_LE(check.bound_ms, best + slack(best)) << seed;
      highest = std::max(highest, check.bound_ms);
      ++certified;
    };
    Budget budget({.node_limit = 20});
    ScatterStepBound step(instance, {.backend = GetParam()}, best, look);
    step.improve(budget);
    Budget boxes({.node_limit = 10});
    ScatterProfileBound profile(instance, GetParam(), best, look);
    if (profile.promising()) profile.improve(boxes);
    if (best > 0) closed += highest / best;
  }
  EXPECT_GT(certified, kInstances / 2);
  EXPECT_GT(closed, 0.5 * static_cast<double>(kInstances));
}

TEST_P(ScatterTimesOf, TheFacadeProvesTinySteps) {
  for (std::uint64_t seed = 0; seed < kInstances / 3; ++seed) {
    const ScatterInstance instance = tiny_timed_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum) continue;
    Budget budget;
    const Outcome outcome = solve(instance, {.method = "exact", .backend = GetParam()}, budget);
    EXPECT_EQ(outcome.status, Status::optimal) << seed << ' ' << outcome.detail;
    EXPECT_NEAR(*outcome.objective, optimum->objective_ms, slack(optimum->objective_ms)) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ScatterTimesOf, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScatterTimesOf);

}  // namespace
}  // namespace stowage
