// The facade on scatter steps: its outcomes, and the reasons why it stopped.
#include "solvers/solve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "instances/scatter/json/json.h"
#include "instances/scatter/verify/verify.h"
#include "tests/long_run.h"

namespace stowage::scatter_solve_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// `count` sequences without a pattern on 16 devices; 48271 is Lehmer's multiplier.
ScatterInstance step(int count) {
  ScatterInstance instance{
      .name = "step",
      .cluster = {.devices = 16, .memory_mib = 3000, .degrees = {1, 2, 4, 8, 16}},
      .model = {.states_mib = 500, .activation_mib_per_token = 1},
      .cost = {
          .quadratic_ms = 1e-5,
          .linear_ms = 0.2,
          .fixed_ms = 100,
          .all_to_all = {.mib_per_token = 1, .mib_per_ms = {{2, 50}, {4, 40}, {8, 30}, {16, 5}}}}};
  std::int64_t state = 1;
  for (int i = 0; i < count; ++i) {
    state = state * 48271 % 2147483647;
    instance.lengths.push_back(16 + state % 997 + (i % 40 == 0 ? state % 9973 : 0));
  }
  return instance;
}

const ScatterPlan& plan_of(const Outcome& outcome) { return std::get<ScatterPlan>(*outcome.plan); }

Outcome solved(const ScatterInstance& instance, const SolveOptions& options,
               const Budget::Limits& limits = {}) {
  Budget budget(limits);
  Outcome outcome = solve(instance, options, budget);
  if (outcome.plan) {
    EXPECT_THAT(verify(instance, plan_of(outcome)), IsEmpty());
    EXPECT_EQ(plan_of(outcome).instance_hash, instance_hash(instance));
    EXPECT_EQ(plan_of(outcome).bound_ms, outcome.bound);
  }
  return outcome;
}

TEST(ScatterSolve, AHeuristicEndsByItself) {
  const Outcome outcome = solved(step(200), {.method = "batch-ada"});
  EXPECT_EQ(outcome.status, Status::feasible);
  EXPECT_EQ(outcome.stopped_by, StoppedBy::heuristic_end);
  EXPECT_EQ(outcome.found_by, "batch-ada");
  EXPECT_EQ(outcome.method, "batch-ada");
}

TEST(ScatterSolve, AutoWithoutLimitsEndsByItself) {
  const Outcome outcome = solved(step(in_long_run(40, 120)), {});
  EXPECT_EQ(outcome.status, Status::feasible);
  EXPECT_EQ(outcome.stopped_by, StoppedBy::heuristic_end);
}

TEST(ScatterSolve, AGapIsAReasonOnlyWhereItEndedTheWork) {
  const Outcome ended = solved(step(120), {.method = "auto", .gap = 0.9});
  EXPECT_EQ(ended.stopped_by, StoppedBy::gap);
  EXPECT_EQ(ended.status, Status::feasible);
  EXPECT_EQ(ended.found_by, "batch-ada");
  const Outcome unheeded = solved(step(120), {.method = "batch-ada", .gap = 0.9});
  EXPECT_EQ(unheeded.stopped_by, StoppedBy::heuristic_end);
}

TEST(ScatterSolve, NoTimeIsEnoughForAPlan) {
  for (const char* method : {"auto", "exact", "fast", "joint"}) {
    if (std::string(method) == "exact" && built_backends().empty()) continue;
    const Outcome outcome = solved(step(200), {.method = method}, {.time_limit_s = 0});
    EXPECT_EQ(outcome.status, Status::feasible) << method;
    EXPECT_EQ(outcome.stopped_by, StoppedBy::time_limit) << method;
  }
}

TEST(ScatterSolve, AnInterruptLeavesTheBestPlan) {
  const std::atomic<bool> interrupt = true;
  const Outcome outcome = solved(step(200), {.method = "auto"}, {.interrupt = &interrupt});
  EXPECT_EQ(outcome.status, Status::feasible);
  EXPECT_EQ(outcome.stopped_by, StoppedBy::interrupted);
}

TEST(ScatterSolve, NodeLimitsEndTheWorkAndAreReproducible) {
  if (built_backends().empty()) GTEST_SKIP() << "no branch and bound without a backend";
  const ScatterInstance instance = step(60);
  const Outcome first = solved(instance, {.method = "exact"}, {.node_limit = 20});
  const Outcome second = solved(instance, {.method = "exact"}, {.node_limit = 20});
  EXPECT_EQ(first.stopped_by, StoppedBy::node_limit);
  EXPECT_EQ(first.nodes, second.nodes);
  EXPECT_EQ(plan_of(first), plan_of(second));
}

TEST(ScatterSolve, NodesAreCountedOnce) {
  for (const MilpBackend backend : built_backends()) {
    const Outcome outcome =
        solved(step(14), {.method = "exact", .backend = backend}, {.node_limit = 50});
    EXPECT_LE(outcome.nodes, 60) << name(backend);
  }
}

TEST(ScatterSolve, AStartIsNeverMadeWorse) {
  const ScatterInstance instance = step(100);
  const Outcome best = solved(instance, {.method = "joint"});
  const Outcome again = solved(instance, {.method = "batch-ada", .start = best.plan});
  EXPECT_LE(*again.objective, *best.objective);
  EXPECT_EQ(again.found_by, "start");
}

TEST(ScatterSolve, ABrokenOrForeignStartIsIgnoredAndNamed) {
  const ScatterInstance instance = step(100);
  ScatterPlan broken = plan_of(solved(instance, {.method = "joint"}));
  broken.micro_batches.pop_back();
  const Outcome without = solved(instance, {.method = "batch-ada"});
  const Outcome outcome = solved(instance, {.method = "batch-ada", .start = broken});
  EXPECT_EQ(outcome.objective, without.objective);
  EXPECT_THAT(outcome.detail, HasSubstr("start"));

  ScatterPlan foreign = plan_of(solved(step(99), {.method = "joint"}));
  EXPECT_THAT(solved(instance, {.method = "batch-ada", .start = foreign}).detail,
              HasSubstr("another instance"));
}

TEST(ScatterSolve, WhatFitsNowhereIsNamed) {
  ScatterInstance instance = step(10);
  instance.lengths[3] = 16 * 2500;
  EXPECT_NE(solved(instance, {.method = "batch-ada"}).status, Status::infeasible);
  instance.lengths[3] += 1;
  const Outcome outcome = solved(instance, {});
  EXPECT_EQ(outcome.status, Status::infeasible);
  EXPECT_EQ(outcome.stopped_by, StoppedBy::proof);
  EXPECT_EQ(outcome.unplaceable, std::vector<std::int64_t>{3});
}

// The step in other units of time has the same outcome.
TEST(ScatterSolve, SmallNumbersAreNoProof) {
  ScatterInstance instance = step(60);
  const Outcome usual = solved(instance, {.method = "batch-ada"});
  for (double* cost : {&instance.cost.quadratic_ms, &instance.cost.linear_ms,
                       &instance.cost.fixed_ms, &instance.cost.all_to_all.mib_per_token}) {
    *cost *= 1e-9;
  }
  const Outcome tiny = solved(instance, {.method = "batch-ada"});
  EXPECT_EQ(tiny.status, Status::feasible);
  EXPECT_NEAR(*tiny.gap(), *usual.gap(), 1e-9);
}

// Practically unlimited memory on many devices: counts beyond 2^53 are clamped, never wrapped.
TEST(ScatterSolve, HugeMemoryIsNoFalseBound) {
  for (const int devices : {2048, 274177}) {
    const ScatterInstance instance{
        .cluster = {.devices = devices,
                    .memory_mib = devices == 2048 ? 0x1.0p53 : 67280421310721.0,
                    .degrees = {1}},
        .model = {.activation_mib_per_token = 1},
        .cost = {.linear_ms = 1},
        .lengths = {1, 1}};
    const Outcome outcome = solved(instance, {.method = "fast"});
    EXPECT_EQ(outcome.status, Status::optimal) << devices;
    EXPECT_EQ(outcome.detail, "") << devices;
  }
}

TEST(ScatterSolve, NothingIsOptimalInNoTime) {
  const Outcome outcome = solved(step(0), {});
  EXPECT_EQ(outcome.status, Status::optimal);
  EXPECT_EQ(outcome.objective, 0);
}

TEST(ScatterSolve, EveryMethodIsListedOnceAndRuns) {
  const ScatterInstance instance = step(20);
  const std::vector<Method> all = methods(instance);
  EXPECT_EQ(all.front().name, "auto");
  for (const Method& method : all) {
    const Outcome outcome =
        solved(instance, {.method = method.name, .milp_seconds = 0.1}, {.node_limit = 100});
    EXPECT_EQ(outcome.status == Status::unknown, !outcome.plan) << method.name;
    EXPECT_NE(outcome.status, Status::error) << method.name << ' ' << outcome.detail;
    EXPECT_THAT(method.summary, Not(IsEmpty()));
  }
}

// Large steps must not build models of millions of variables, nor work past their limit.
TEST(ScatterSolve, TwentyThousandSequencesEndAtTheirLimit) {
  const Outcome outcome = solved(step(20000), {.method = "auto"}, {.time_limit_s = 0.05});
  EXPECT_EQ(outcome.status, Status::feasible);
  EXPECT_EQ(outcome.stopped_by, StoppedBy::time_limit);
}

}  // namespace
}  // namespace stowage::scatter_solve_test
