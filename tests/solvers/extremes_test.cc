// Numbers at the limits of the format: every method answers, and its answers are valid.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "instances/assign/verify/verify.h"
#include "instances/json/limits.h"
#include "instances/layout/verify/verify.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/explain/explain.h"
#include "solvers/lp/solver.h"
#include "solvers/solve.h"

namespace stowage::extremes_test {
namespace {

constexpr double kHuge = static_cast<double>(kMaxExact);

template <class InstanceT>
void expect_sound(const InstanceT& instance) {
  for (const Method& method : methods(Instance(instance))) {
    if (method.name == "reinsert") continue;  // takes seconds for every size
    SCOPED_TRACE(method.name);
    Budget budget({.node_limit = 30});
    const Outcome outcome = solve(Instance(instance), {.method = method.name}, budget);
    EXPECT_THAT(outcome.violations, testing::IsEmpty()) << outcome.detail;
    if (!outcome.plan) continue;
    EXPECT_THAT(verify(instance, std::get<typename PlanOf<InstanceT>::type>(*outcome.plan)),
                testing::IsEmpty());
    EXPECT_TRUE(std::isfinite(*outcome.objective));
    EXPECT_LE(outcome.bound, *outcome.objective);
  }
}

ScatterInstance huge_step() {
  ScatterInstance step{.name = "huge",
                       .cluster = {.devices = 1365 * 4, .memory_mib = kHuge, .degrees = {1, 2, 4}},
                       .model = {.states_mib = 0, .activation_mib_per_token = 1e-3},
                       .cost = {.quadratic_ms = kHuge, .linear_ms = kHuge, .fixed_ms = kHuge}};
  step.lengths = {kMaxExact / 4, kMaxExact / 4, 1, 2, 3, 1000, 1'000'000};
  return step;
}

TEST(Extremes, ScatterStepsOfTheLargestNumbers) {
  ScatterInstance step = huge_step();
  expect_sound(step);
  step.cost.all_to_all = {.mib_per_token = kHuge, .mib_per_ms = {{2, 1e-9}, {4, kHuge}}};
  expect_sound(step);
  step.cost.quadratic_ms = 1e-300;
  step.cost.linear_ms = 0;
  step.cost.fixed_ms = 0;
  expect_sound(step);
}

TEST(Extremes, AssignStepsOfTheLargestNumbers) {
  AssignInstance step{.name = "huge", .devices = 3000};
  step.schemes = {{.name = "a",
                   .tp = 1,
                   .pp = kMaxStages,
                   .quadratic_ms = kHuge,
                   .linear_ms = kHuge,
                   .fixed_ms = kHuge,
                   .max_tokens = kMaxExact},
                  {.name = "b", .tp = 2, .quadratic_ms = 1e-300, .max_tokens = kMaxExact / 4}};
  step.strategies = {{.name = "S", .replicas = {2, 3}}, {.name = "T", .replicas = {0, 1000}}};
  step.lengths = {kMaxExact / 4, kMaxExact / 4, 1, 2, 3, 1000, 1'000'000, 5, 5, 5};
  expect_sound(step);
  step.constraints = {.rows_multiple_of = 3, .equal_rows = true, .allow_empty = false};
  expect_sound(step);
}

TEST(Extremes, LayoutsOfTheLargestNumbers) {
  LayoutInstance layout{.name = "huge"};
  for (int b = 0; b < 8; ++b) {
    layout.buffers.push_back({.lower = b * 1000,
                              .upper = kMaxExact - b,
                              .size = kMaxExact / 16,
                              .alignment = Bytes{1} << (b * 5)});
  }
  expect_sound(layout);
  layout.capacity = kMaxExact;
  layout.buffers.front().offset = kMaxExact / 2;
  expect_sound(layout);
}

// Clp ends the process on costs of 1e25.
TEST(Extremes, LinearProgrammesWithHugeCosts) {
  for (const MilpBackend backend : built_backends()) {
    for (const double cost : {1e-40, 1e-3, 1.0, 1e12, 1e30, 1e200}) {
      milp::Model model;
      model.add_variable({.objective = cost});
      model.add_variable({.objective = 3 * cost});
      model.add_row({.lower = 6, .terms = {{0, 1}, {1, 2}}});
      model.add_row({.lower = 2, .terms = {{1, 1}}});
      Budget budget;
      const LpResult result = solve_lp(backend, model, {}, budget);
      ASSERT_TRUE(result.optimal) << cost << ": " << result.detail;
      EXPECT_NEAR(result.objective, 8 * cost, 8e-9 * cost) << cost;
      EXPECT_NEAR(result.duals.at(0), cost, 1e-9 * cost) << cost;
    }
  }
}

TEST(Extremes, LinearProgrammesWithHugeCoefficientsAreRefused) {
  milp::Model model;
  model.add_variable({.objective = 1});
  model.add_row({.lower = 6, .terms = {{0, 1e30}}});
  for (const MilpBackend backend : built_backends()) {
    Budget budget;
    const LpResult result = solve_lp(backend, model, {}, budget);
    EXPECT_FALSE(result.optimal);
    EXPECT_THAT(result.detail, testing::HasSubstr("too large"));
  }
}

// Above 2^53 one MiB more does not change a number; a remedy must be a valid instance.
TEST(Extremes, RemediesStayWithinTheFormat) {
  ScatterInstance step{.name = "short",
                       .cluster = {.devices = 3, .memory_mib = 0, .degrees = {1, 3}},
                       .model = {.states_mib = kHuge, .activation_mib_per_token = 1e-300},
                       .cost = {.linear_ms = 1}};
  step.lengths = {1, kMaxExact / 2};
  for (const double activation : {1e-300, 1.0, kHuge}) {
    step.model.activation_mib_per_token = activation;
    Budget budget({.node_limit = 100});
    const Explanation why = explain(Instance(step), std::nullopt, {.nodes = 10}, budget);
    EXPECT_EQ(why.outcome.status, Status::infeasible);
    for (const Change& change : why.conflict.changes) {
      const auto& changed = std::get<ScatterInstance>(change.instance);
      EXPECT_TRUE(read_scatter_instance(write_scatter_instance(changed))) << change.text;
    }
  }
}

}  // namespace
}  // namespace stowage::extremes_test
