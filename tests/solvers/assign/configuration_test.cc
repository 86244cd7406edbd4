// Priced configurations of replicas: no plan is below their bounds, and they close gaps that row
// patterns leave.
#include <gtest/gtest.h>

#include "formulations/assign/bounds.h"
#include "formulations/assign/lp/configuration_lp.h"
#include "instances/assign/certificate.h"
#include "instances/assign/verify/verify.h"
#include "solvers/assign/bounds/configuration_bound.h"
#include "solvers/assign/bounds/pattern_bound.h"
#include "solvers/assign/exact/subset_dp.h"
#include "solvers/milp/backends.h"
#include "solvers/solve.h"
#include "tests/instances/draw.h"
#include "tests/long_run.h"
#include "tests/oracles/assign/brute_force.h"
#include "tests/tiny_assign.h"

namespace stowage::assign_configuration_test {
namespace {

std::uint64_t steps() { return static_cast<std::uint64_t>(in_long_run(250, 3000)); }

std::vector<std::optional<MilpBackend>> lp_backends() {
  std::vector<std::optional<MilpBackend>> all = {std::nullopt};
  for (const MilpBackend each : built_backends()) all.emplace_back(each);
  return all;
}

KnownProofs closed_proofs(const AssignInstance& instance, const AssignTable& table, Ms upper) {
  Budget budget;
  PatternBound found = pattern_bound(instance, table, upper, {.rounds = 0}, budget);
  if (!found.certificate) return {};
  return {std::move(found.certificate->strategies), std::move(found.strategies)};
}

TEST(AssignConfigurations, BoundNoMoreThanTheOptimumWithEveryBackend) {
  int raised = 0;
  int closed = 0;
  for (std::uint64_t seed = 0; seed < steps(); ++seed) {
    const AssignInstance instance = tiny_assign(seed, 8);
    if (instance.lengths.empty() || !unplaceable_sequences(instance).empty()) continue;
    const auto optimum = brute_force(instance);
    if (!optimum || !(optimum->objective_ms > 0)) continue;
    const AssignTable table(instance);
    const KnownProofs known = closed_proofs(instance, table, 1.1 * optimum->objective_ms);
    if (known.times.empty()) continue;
    const Ms before = *std::ranges::min_element(known.times);
    for (const auto& backend : lp_backends()) {
      Budget budget;
      const ConfigurationBound found = configuration_bound(
          instance, table, 1.1 * optimum->objective_ms, known, {.backend = backend}, budget);
      if (!found.certificate) continue;
      const AssignCertificateCheck check = check_certificate(instance, *found.certificate);
      EXPECT_TRUE(check.violations.empty()) << seed << ' ' << to_string(check.violations.front());
      EXPECT_LE(check.bound_ms, optimum->objective_ms * (1 + 1e-9)) << seed;
      raised += check.bound_ms > before * (1 + 1e-6);
      closed += check.bound_ms > optimum->objective_ms * 0.999;
    }
  }
  const auto backends = static_cast<int>(lp_backends().size());
  EXPECT_GT(raised, 40 * backends);
  EXPECT_GT(closed, 20 * backends);
}

// Replicas that hold two or three of 60 sequences, some by pipelines: row patterns leave gaps of
// two per cent and more.
AssignInstance pairs(std::uint64_t seed) {
  Draw draw(seed);
  AssignInstance instance{.name = "pairs"};
  instance.schemes = {
      {.name = "a", .quadratic_ms = 2e-6, .linear_ms = 0.1, .fixed_ms = 60, .max_tokens = 20'000},
      {.name = "b",
       .tp = 2,
       .quadratic_ms = 1e-6,
       .linear_ms = 0.055,
       .fixed_ms = 50,
       .max_tokens = 40'000},
      {.name = "c",
       .tp = 2,
       .pp = 2,
       .quadratic_ms = 5e-7,
       .linear_ms = 0.028,
       .fixed_ms = 30,
       .max_tokens = 40'000}};
  const int replicas = 30 + static_cast<int>(draw.below(3));
  instance.devices = replicas;
  instance.strategies = {
      {"S0", {replicas, 0, 0}}, {"S1", {replicas - 2, 1, 0}}, {"S2", {replicas - 4, 0, 1}}};
  while (instance.lengths.size() < 60) {
    instance.lengths.push_back(20 + static_cast<Tokens>(draw.below(1850)));
  }
  return instance;
}

// `fast` stops at two per cent; with a smaller gap the configurations prove more.
TEST(AssignConfigurations, CloseStepsOfFewSequencesAReplica) {
  const int drawn = static_cast<int>(in_long_run(12, 40));
  int named = 0;
  for (int seed = 0; seed < drawn; ++seed) {
    const AssignInstance instance = pairs(static_cast<std::uint64_t>(seed));
    Budget budget;
    const Outcome outcome = solve(instance, {.method = "fast"}, budget);
    ASSERT_TRUE(outcome.objective) << seed;
    const Ms time = *outcome.objective;
    EXPECT_LE(time - outcome.bound, 0.02 * time) << seed << ' ' << outcome.bound_by;
    named += outcome.bound_by == "configurations";
    const AssignTable table(instance);
    const ConfigurationBound found = configuration_bound(
        instance, table, time, closed_proofs(instance, table, time), {}, budget);
    ASSERT_TRUE(found.certificate) << seed;
    EXPECT_LE(time - found.certificate->bound_ms, 0.015 * time) << seed;
  }
  EXPECT_GT(named, 0);
}

TEST(AssignConfigurations, NothingOfManySequencesAndWithoutTime) {
  AssignInstance instance = pairs(1);
  for (const bool many : {false, true}) {
    if (many) instance.lengths.assign(kMaxConfigured + 1, 500);
    const AssignTable table(instance);
    const KnownProofs known = closed_proofs(instance, table, 1e4);
    Budget budget({.time_limit_s = many ? 10.0 : 0.0});
    EXPECT_FALSE(configuration_bound(instance, table, 1e4, known, {}, budget).certificate);
    Budget enough;
    EXPECT_FALSE(configuration_bound(instance, table, 1e4, {}, {}, enough).certificate);
  }
}

// A proof of the LP for a time also holds for shorter times, and its prices give the longest such
// time.
TEST(AssignConfigurations, PricesRefuteShorterTimes) {
  const AssignInstance instance = pairs(2);
  const AssignTable table(instance);
  ConfigurationLp lp(table, 0, 30);
  EXPECT_TRUE(lp.a_kind_fits_nowhere());  // a row alone takes 60 ms
  EXPECT_EQ(lp.proof("S0").prices.size(), 1U);
  lp.set_time(1e6);
  EXPECT_FALSE(lp.a_kind_fits_nowhere());
  EXPECT_EQ(lp.proven(5, 100), 5);  // no prices yet
}

}  // namespace
}  // namespace stowage::assign_configuration_test
