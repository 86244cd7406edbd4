// The oracle ladder of the assign family: brute force = MILP by GLPK = MILP by CBC, every bound is
// at most the optimum, every heuristic at least, and every plan verifies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "formulations/assign/bounds.h"
#include "formulations/assign/grouped.h"
#include "formulations/assign/milp.h"
#include "heuristics/assign/construct/multistart.h"
#include "heuristics/assign/registry.h"
#include "instances/assign/plan_builder.h"
#include "instances/assign/verify/verify.h"
#include "solvers/assign/bounds/grouped_bound.h"
#include "solvers/assign/published/hydraulis.h"
#include "solvers/assign/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/assign/brute_force.h"
#include "tests/tiny_assign.h"

namespace stowage::assign_ladder_test {
namespace {

// Branch and bound is more than ten times slower under a sanitizer, which looks for other faults
// than wrong optima.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kInstances = 80;
#else
const auto kInstances = static_cast<std::uint64_t>(in_long_run(400, 3000));
#endif
constexpr std::uint64_t kShards = 8;     // tests that can run in parallel
constexpr std::uint64_t kMilpEvery = 5;  // one of this number of instances runs on each backend
constexpr double kTolerance = 1e-6;

double slack(double value) { return kTolerance * std::max(1.0, value); }

int index_of(const AssignInstance& instance, const std::string& strategy) {
  return static_cast<int>(std::ranges::find(instance.strategies, strategy, &Strategy::name) -
                          instance.strategies.begin());
}

// Returns the optimum of one strategy alone.
std::optional<AssignPlan> best_of(AssignInstance instance, int strategy) {
  instance.strategies = {instance.strategies[static_cast<std::size_t>(strategy)]};
  return brute_force(instance);
}

TEST(AssignLadderOracle, BruteForcePlansVerify) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const AssignInstance instance = tiny_assign(seed);
    const auto plan = brute_force(instance);
    if (!plan) continue;
    ++planned;
    EXPECT_TRUE(verify(instance, *plan).empty()) << seed;
    EXPECT_TRUE(unplaceable_sequences(instance).empty()) << seed;
  }
  EXPECT_GT(planned, kInstances / 2);
}

// Brute force agrees with a second, independent oracle that tries every sequence in every row of
// every replica.
TEST(AssignLadderOracle, BruteForceAgreesWithPlainEnumeration) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 0; seed < kInstances / 15; ++seed) {
    const AssignInstance instance = tiny_assign(seed, 4);
    const std::size_t n = instance.lengths.size();
    if (n == 0) continue;
    double best = milp::kInfinity;
    for (std::size_t s = 0; s < instance.strategies.size(); ++s) {
      std::vector<ReplicaChoice> empty;
      for (std::size_t g = 0; g < instance.schemes.size(); ++g) {
        for (int r = 0; r < instance.strategies[s].replicas[g]; ++r) {
          empty.push_back({.scheme = static_cast<int>(g)});
        }
      }
      const std::size_t places = empty.size() * n;  // place = replica * n + row
      auto codes = static_cast<std::size_t>(std::pow(places, n));
      while (codes-- > 0) {
        std::vector<ReplicaChoice> choices = empty;
        for (ReplicaChoice& choice : choices) choice.rows.resize(n);
        std::size_t rest = codes;
        for (std::size_t k = 0; k < n; ++k, rest /= places) {
          choices[rest % places / n].rows[rest % n].push_back(static_cast<std::int64_t>(k));
        }
        const AssignPlan plan = compose_assign(instance, static_cast<int>(s), choices);
        if (plan.objective_ms < best && verify(instance, plan).empty()) best = plan.objective_ms;
      }
    }
    const auto plan = brute_force(instance);
    ASSERT_EQ(plan.has_value(), best < milp::kInfinity) << seed;
    if (!plan) continue;
    EXPECT_NEAR(plan->objective_ms, best, 1e-9 * best) << seed;
    ++compared;
  }
  EXPECT_GT(compared, kInstances / 40);
}

TEST(AssignLadderOracle, BoundsAreBelowAndHeuristicsAboveTheOptimum) {
  std::uint64_t declined = 0;
  std::uint64_t optimal = 0;
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const AssignInstance instance = tiny_assign(seed);
    const auto optimum = brute_force(instance);
    if (optimum) {
      for (const NamedBound& bound : assign_bounds(AssignTable(instance))) {
        EXPECT_LE(bound.value, optimum->objective_ms + slack(optimum->objective_ms))
            << bound.name << ' ' << seed;
      }
    }
    for (const AssignHeuristic& heuristic : heuristics(instance)) {
      const auto plan = heuristic.run(instance, AssignTable(instance), seed, Budget());
      if (!plan) {
        declined += optimum && heuristic.name == "joint";
        continue;
      }
      ASSERT_TRUE(optimum) << heuristic.name << ' ' << seed;
      EXPECT_GE(plan->objective_ms, optimum->objective_ms - slack(optimum->objective_ms))
          << heuristic.name << ' ' << seed;
      const auto violations = verify(instance, *plan);
      EXPECT_TRUE(violations.empty())
          << heuristic.name << ' ' << seed << ' ' << to_string(violations.front());
      if (heuristic.name != "joint") continue;
      ++planned;
      optimal += plan->objective_ms <= optimum->objective_ms + slack(optimum->objective_ms);
    }
  }
  EXPECT_LE(declined, 3U);  // row constraints that only enumeration satisfies
  EXPECT_GE(optimal, planned * 98 / 100);
}

// Every plan of every heuristic is a point of the relaxation: it does not cut off empty replicas,
// row constraints or bubbles.
TEST(AssignLadderOracle, PlansArePointsOfTheGroupedRelaxation) {
  std::uint64_t encoded = 0;
  for (std::uint64_t seed = 0; seed < kInstances / 3; ++seed) {
    const AssignInstance instance = tiny_assign(seed);
    if (instance.lengths.empty()) continue;
    const AssignTable table(instance);
    for (const AssignHeuristic& heuristic : heuristics(instance)) {
      const auto plan = heuristic.run(instance, AssignTable(instance), seed, Budget());
      if (!plan) continue;
      const int strategy = index_of(instance, plan->strategy);
      for (const double upper : {milp::kInfinity, plan->objective_ms}) {
        for (const int whole : {0, 2, 60}) {
          for (const bool apart : {false, true}) {
            const AssignGrouped grouped = build_assign_grouped(
                table, strategy, {.whole = whole, .upper = upper, .apart = apart});
            EXPECT_LE(grouped.model.violation(encode(grouped, instance, table, *plan)), 1e-9)
                << heuristic.name << ' ' << seed;
            ++encoded;
          }
        }
      }
      const AssignMilp milp = build_assign_milp(table, strategy, plan->objective_ms);
      EXPECT_LE(milp.model.violation(encode(milp, instance, table, *plan)), 1e-9) << seed;
    }
  }
  EXPECT_GT(encoded, kInstances);
}

class AssignLadderShard : public testing::TestWithParam<std::tuple<MilpBackend, std::uint64_t>> {};

// Every strategy's MILP is solved without a start, so that it must find the optimum itself. As in
// the facade, it omits rows that only plans slower than a heuristic's have.
TEST_P(AssignLadderShard, MilpEqualsBruteForce) {
  const auto [backend, shard] = GetParam();
  for (std::uint64_t seed = shard; seed < kInstances / kMilpEvery; seed += kShards) {
    const AssignInstance instance = tiny_assign(seed);
    if (instance.lengths.empty()) continue;
    const AssignTable table(instance);
    for (int strategy = 0; strategy < table.strategies(); ++strategy) {
      if (!table.usable(strategy)) continue;
      const auto optimum = best_of(instance, strategy);
      const auto plan_of = plan_strategy(table, strategy, {}, quick_effort({}), seed, Budget());
      const AssignMilp milp =
          build_assign_milp(table, strategy, plan_of ? objective(*plan_of) : milp::kInfinity);
      Budget budget;
      const MilpResult result = solve_milp(backend, milp.model, {}, budget);
      if (!optimum) {
        EXPECT_EQ(result.status, MilpStatus::infeasible) << seed;
        continue;
      }
      ASSERT_EQ(result.status, MilpStatus::optimal) << seed << ' ' << result.detail;
      EXPECT_NEAR(result.objective, optimum->objective_ms, slack(optimum->objective_ms)) << seed;
      const AssignPlan plan =
          compose_assign(instance, strategy, decode(milp, table, result.values));
      EXPECT_TRUE(verify(instance, plan).empty()) << seed;
      EXPECT_NEAR(plan.objective_ms, optimum->objective_ms, slack(optimum->objective_ms)) << seed;
    }
  }
}

// The relaxations' own bounds, merged and separate, with and without a start plan.
TEST_P(AssignLadderShard, GroupedBoundsAreBelowTheOptimum) {
  const auto [backend, shard] = GetParam();
  for (std::uint64_t seed = shard; seed < kInstances / kMilpEvery; seed += kShards) {
    const AssignInstance instance = tiny_assign(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    const AssignTable table(instance);
    for (const bool started : {false, true}) {
      Budget budget;
      std::vector<AssignPlan> plans;
      if (started) plans.push_back(*optimum);
      const GroupedBound grouped =
          grouped_bound(instance, table, plans, started ? optimum->objective_ms : milp::kInfinity,
                        0, {}, {.backend = backend}, budget);
      EXPECT_EQ(grouped.detail, "") << seed;
      if (!grouped.bound) continue;
      EXPECT_LE(grouped.bound->value, optimum->objective_ms + slack(optimum->objective_ms)) << seed;
      const double closed = assign_bounds(table).back().value;
      EXPECT_GE(grouped.bound->value, closed - slack(closed)) << seed;
    }
  }
}

class AssignLadder : public testing::TestWithParam<MilpBackend> {};

TEST_P(AssignLadder, HydraulisIsValidAndNoBetterThanTheOptimum) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kInstances / 60; ++seed) {
    const AssignInstance instance = tiny_assign(seed);
    const auto optimum = brute_force(instance);
    for (const HydraulisScore score : {HydraulisScore::published, HydraulisScore::modelled}) {
      Budget budget;
      const HydraulisResult result = hydraulis_by_milp(
          instance, {.backend = GetParam(), .score = score, .milp_seconds = milp::kInfinity},
          budget);
      if (!result.plan) continue;
      ++planned;
      ASSERT_TRUE(optimum) << seed;
      EXPECT_TRUE(verify(instance, *result.plan).empty()) << seed;
      EXPECT_GE(result.plan->objective_ms, optimum->objective_ms - slack(optimum->objective_ms));
      EXPECT_EQ(result.milps_stopped, 0);
      EXPECT_EQ(result.detail, "") << seed;
    }
  }
  EXPECT_GT(planned, kInstances / 60);
}

TEST_P(AssignLadder, TheFacadeProvesTinySteps) {
  for (std::uint64_t seed = 0; seed < kInstances / 10; ++seed) {
    const AssignInstance instance = tiny_assign(seed);
    const auto optimum = brute_force(instance);
    Budget budget;
    const Outcome outcome =
        solve_family(instance, {.method = "exact", .backend = GetParam()}, budget, {});
    if (!optimum) {
      EXPECT_EQ(outcome.status, Status::infeasible) << seed << ' ' << outcome.detail;
      EXPECT_EQ(outcome.unplaceable, unplaceable_sequences(instance)) << seed;
      continue;
    }
    EXPECT_EQ(outcome.status, Status::optimal) << seed << ' ' << outcome.detail;
    EXPECT_EQ(outcome.stopped_by, StoppedBy::proof) << seed;
    EXPECT_NEAR(*outcome.objective, optimum->objective_ms, slack(optimum->objective_ms)) << seed;
    EXPECT_LE(outcome.bound, *outcome.objective) << seed;
  }
}

// The facade's brute force does not take eight sequences, so the relaxations and the MILPs must
// prove the optimum.
TEST_P(AssignLadder, TheFacadeProvesByMilpWhatBruteForceFinds) {
  int proven = 0;
  int tried = 0;
  for (std::uint64_t seed = 0; tried < 25; ++seed) {
    const AssignInstance instance = tiny_assign(seed, 8);
    if (instance.lengths.size() != 8 || !unplaceable_sequences(instance).empty()) continue;
    const auto optimum = brute_force(instance);
    if (!optimum) continue;
    ++tried;
    Budget budget({.node_limit = 3000});
    const Outcome outcome =
        solve_family(instance, {.method = "exact", .backend = GetParam()}, budget, {});
    ASSERT_TRUE(outcome.plan) << seed << ' ' << outcome.detail;
    EXPECT_LE(outcome.bound, optimum->objective_ms + slack(optimum->objective_ms)) << seed;
    if (outcome.status != Status::optimal) continue;
    ++proven;
    EXPECT_NEAR(*outcome.objective, optimum->objective_ms, slack(optimum->objective_ms)) << seed;
  }
  EXPECT_GE(proven, 20);
}

INSTANTIATE_TEST_SUITE_P(Backends, AssignLadderShard,
                         testing::Combine(testing::ValuesIn(built_backends()),
                                          testing::Range(std::uint64_t{0}, kShards)),
                         [](const auto& shard) {
                           return std::string(name(std::get<0>(shard.param))) + "_" +
                                  std::to_string(std::get<1>(shard.param));
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AssignLadderShard);
INSTANTIATE_TEST_SUITE_P(Backends, AssignLadder, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AssignLadder);

}  // namespace
}  // namespace stowage::assign_ladder_test
