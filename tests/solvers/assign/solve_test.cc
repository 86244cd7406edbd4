// Edge cases of assign steps through the facade, each with its documented outcome.
#include "solvers/solve.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "instances/assign/certificate.h"
#include "instances/assign/verify/verify.h"
#include "instances/families.h"
#include "solvers/milp/solver.h"
#include "tests/tiny_assign.h"

namespace stowage::assign_solve_test {
namespace {

AssignInstance flat(int replicas, Tokens max_tokens, std::vector<Tokens> lengths) {
  return {.name = "flat",
          .devices = replicas,
          .schemes = {{.name = "1x1", .linear_ms = 1, .fixed_ms = 10, .max_tokens = max_tokens}},
          .strategies = {{"all", {replicas}}},
          .lengths = std::move(lengths)};
}

Outcome solved(const AssignInstance& instance) {
  Budget budget({.node_limit = 200});
  Outcome outcome = solve(instance, {}, budget);
  if (outcome.plan) {
    EXPECT_TRUE(verify(instance, std::get<AssignPlan>(*outcome.plan)).empty());
    EXPECT_LE(outcome.bound, *outcome.objective);
  }
  if (outcome.certificate) {
    const auto& certificate = std::get<AssignCertificate>(outcome.certificate->any());
    EXPECT_TRUE(check_certificate(instance, certificate).violations.empty());
  }
  return outcome;
}

void expect_optimal(const AssignInstance& instance, double objective) {
  const Outcome outcome = solved(instance);
  EXPECT_EQ(outcome.status, Status::optimal) << outcome.detail;
  ASSERT_TRUE(outcome.objective);
  EXPECT_NEAR(*outcome.objective, objective, 1e-9 * objective);
}

std::size_t rows_of(const AssignInstance& instance) {
  std::size_t rows = 0;
  const Outcome outcome = solved(instance);
  if (!outcome.plan) return 0;
  for (const AssignReplica& replica : std::get<AssignPlan>(*outcome.plan).replicas) {
    rows += replica.rows.size();
  }
  return rows;
}

TEST(AssignSolve, ASequenceLongerThanEveryCapIsNamed) {
  const Outcome outcome = solved(flat(2, 100, {50, 101, 20, 200}));
  EXPECT_EQ(outcome.status, Status::infeasible);
  EXPECT_EQ(outcome.unplaceable, (std::vector<std::int64_t>{1, 3}));
  EXPECT_FALSE(outcome.plan);
}

TEST(AssignSolve, OneReplicaTakesItAll) { expect_optimal(flat(1, 100, {60, 60, 40, 40}), 220); }

TEST(AssignSolve, MoreReplicasThanSequences) {
  AssignInstance instance = flat(5, 100, {60, 30});
  expect_optimal(instance, 70);
  instance.constraints.allow_empty = false;
  EXPECT_EQ(solved(instance).status, Status::infeasible);
}

TEST(AssignSolve, ReplicasThatTooFewSequencesFitAreStarved) {
  AssignInstance instance{
      .name = "starved",
      .devices = 3,
      .schemes = {{.name = "wide", .linear_ms = 1, .max_tokens = 100},
                  {.name = "narrow", .linear_ms = 1, .max_tokens = 10}},
      .strategies = {{"both", {1, 2}}},
      .constraints = {.allow_empty = false},
      .lengths = {50, 60, 70, 80, 90, 100, 40, 30, 20, 10}};  // only one fits `narrow`
  const Outcome starved = solved(instance);
  EXPECT_EQ(starved.status, Status::infeasible);
  EXPECT_EQ(starved.stopped_by, StoppedBy::proof);
  instance.lengths.push_back(1);
  EXPECT_TRUE(solved(instance).plan);
  instance.constraints.rows_multiple_of = 2;
  EXPECT_EQ(solved(instance).status, Status::infeasible);
  instance.strategies.push_back({"wide", {3, 0}});
  EXPECT_TRUE(solved(instance).plan);
}

// Costs at the ends of their range: no backend gets coefficients of 1e20 and more.
TEST(AssignSolve, NumbersThatNoBackendTakesAreNoFailure) {
  if (built_backends().empty()) GTEST_SKIP() << "no backend is built in";
  AssignInstance instance = flat(
      2, 100'000,
      {80'000, 20'000, 60'000, 90'000, 80'000, 60'000, 90'000, 70'000, 50'000, 40'000, 60'000});
  instance.lengths.resize(20, 30'000);  // too many sequences for subsets
  instance.schemes[0].quadratic_ms = instance.schemes[0].fixed_ms = static_cast<double>(kMaxExact);
  instance.constraints = {.rows_multiple_of = 2, .equal_rows = true};
  Budget budget({.node_limit = 200});
  const Outcome outcome = solve(instance, {.method = "exact"}, budget);
  EXPECT_TRUE(outcome.plan) << outcome.detail;
  EXPECT_NE(outcome.stopped_by, StoppedBy::error);
  EXPECT_NE(outcome.detail.find(" is not asked: a coefficient of row "), std::string::npos)
      << outcome.detail;
}

// 6 3 3 | 4 4 4 fills two rows; first-fit-decreasing needs a third.
TEST(AssignSolve, CapsSoTightThatFirstFitFails) {
  const AssignInstance instance = flat(1, 12, {6, 4, 4, 4, 3, 3});
  expect_optimal(instance, 24 + 2 * 10);
  EXPECT_EQ(rows_of(instance), 2U);
}

TEST(AssignSolve, AllRowsFull) {
  const AssignInstance instance = flat(2, 100, {50, 50, 50, 50, 60, 40, 70, 30});
  expect_optimal(instance, 2 * (100 + 10));
  EXPECT_EQ(rows_of(instance), 4U);
}

TEST(AssignSolve, TwoSchemesOfEqualCostAreOne) {
  AssignInstance one = flat(2, 100, {90, 70, 60, 50, 30, 20});
  AssignInstance two = one;
  two.schemes.push_back(two.schemes[0]);
  two.schemes[1].name = "other";
  two.strategies = {{"both", {1, 1}}};
  const Outcome together = solved(one);
  const Outcome apart = solved(two);
  ASSERT_TRUE(together.objective && apart.objective);
  EXPECT_NEAR(*together.objective, *apart.objective, 1e-9);
  EXPECT_EQ(apart.status, Status::optimal);
}

TEST(AssignSolve, OnlyOneStrategyAdmitsTheLongest) {
  AssignInstance instance = flat(4, 100, {150, 20, 20});
  instance.schemes.push_back({.name = "4x1", .tp = 4, .linear_ms = 2, .max_tokens = 200});
  instance.strategies = {{"short", {4, 0}}, {"long", {0, 1}}};
  expect_optimal(instance, 380);
  EXPECT_EQ(std::get<AssignPlan>(*solved(instance).plan).strategy, "long");
}

TEST(AssignSolve, NoSequencesTakeNoTime) {
  AssignInstance instance = flat(3, 100, {});
  const Outcome outcome = solved(instance);
  EXPECT_EQ(outcome.status, Status::optimal);
  EXPECT_EQ(outcome.objective, 0);
  instance.constraints.allow_empty = false;
  EXPECT_EQ(solved(instance).status, Status::infeasible);
}

TEST(AssignSolve, DuplicateLengthsOnly) {
  expect_optimal(flat(4, 100, std::vector<Tokens>(40, 25)), 3 * 10 + 250);
  expect_optimal(flat(3, 100, std::vector<Tokens>(12, 60)), 4 * 70);
}

// Only nodes limit the solve, so equal input gives equal outcomes.
TEST(AssignSolve, TheSameInputGivesTheSameOutcome) {
  AssignInstance instance = flat(3, 100, {90, 80, 70, 33, 32, 31, 30, 22, 21, 20, 11, 7});
  instance.schemes.push_back(
      {.name = "1x2", .pp = 2, .quadratic_ms = 0.01, .fixed_ms = 3, .max_tokens = 90});
  instance.strategies.push_back({"mixed", {1, 1}});
  const Outcome first = solved(instance);
  const Outcome second = solved(instance);
  EXPECT_EQ(first.objective, second.objective);
  EXPECT_EQ(first.bound, second.bound);
  EXPECT_EQ(first.bound_by, second.bound_by);
  EXPECT_EQ(first.nodes, second.nodes);
  EXPECT_EQ(first.plan, second.plan);
  ASSERT_EQ(first.certificate.has_value(), second.certificate.has_value());
  if (!first.certificate) return;
  EXPECT_EQ(std::get<AssignCertificate>(first.certificate->any()),
            std::get<AssignCertificate>(second.certificate->any()));
}

// The bound on the end of the 1F1B schedule holds for the plans of all methods.
TEST(AssignSolve, NoPlanEndsBeforeTheSimulatedBound) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const AssignInstance instance = tiny_assign(seed, 8);
    for (const Method& method : methods(instance)) {
      Budget budget({.node_limit = 50});
      const Outcome outcome = solve(instance, {.method = method.name}, budget);
      if (!outcome.plan || !outcome.simulated_bound) continue;
      const Ms end = std::get<AssignPlan>(*outcome.plan).simulated_1f1b_ms;
      EXPECT_LE(*outcome.simulated_bound, end * (1 + 1e-9)) << seed << method.name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace stowage::assign_solve_test
