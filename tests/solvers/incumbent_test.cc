#include "solvers/incumbent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/plan_builder.h"

namespace stowage::incumbent_test {
namespace {

using ::testing::HasSubstr;

// Two devices, 1 ms per token and device, 3 ms per group.
const ScatterInstance kStep{.cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
                            .model = {.activation_mib_per_token = 1},
                            .cost = {.linear_ms = 1, .fixed_ms = 3},
                            .lengths = {40, 40}};

ScatterPlan apart() { return compose_plan(kStep, {{{1, {0}}}, {{1, {1}}}}); }   // 86 ms
ScatterPlan together() { return compose_plan(kStep, {{{1, {0}}, {1, {1}}}}); }  // 43 ms

TEST(Incumbent, KeepsTheFasterOfVerifiedPlans) {
  Budget budget;
  Incumbent incumbent(kStep, budget, {});
  EXPECT_TRUE(incumbent.offer(apart(), 'H', "first"));
  EXPECT_TRUE(incumbent.offer(together(), 'H', "second"));
  EXPECT_FALSE(incumbent.offer(apart(), 'H', "third"));
  EXPECT_FALSE(incumbent.offer(together(), 'H', "equal"));
  EXPECT_EQ(incumbent.report().found_by, "second");
  EXPECT_EQ(incumbent.report().objective, 43);
}

TEST(Incumbent, APlanThatFailsVerificationIsNamedAndCostsNothing) {
  Budget budget;
  Incumbent incumbent(kStep, budget, {});
  ASSERT_TRUE(incumbent.offer(apart(), 'H', "good"));
  ScatterPlan broken = together();
  broken.micro_batches[0].groups[0].sequences = {1};
  EXPECT_FALSE(incumbent.offer(broken, 'M', "liar"));
  const Outcome outcome = incumbent.report();
  EXPECT_EQ(outcome.objective, 86);
  EXPECT_FALSE(outcome.violations.empty());
  EXPECT_THAT(outcome.detail, HasSubstr("liar"));
}

// With such a number the search could not compare plans.
TEST(Incumbent, WhatIsNoFiniteNumberEndsTheSearch) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Budget budget;
  Incumbent incumbent(kStep, budget, {});
  EXPECT_THROW(incumbent.raise_bound({"broken", kNan}), std::domain_error);
  EXPECT_THROW(incumbent.raise_bound({"endless", kInfinity}), std::domain_error);
  ASSERT_TRUE(incumbent.offer(apart(), 'H', "good"));
  for (const double objective : {kNan, kInfinity}) {
    ScatterPlan plan = together();
    plan.objective_ms = objective;
    EXPECT_THROW(incumbent.offer(plan, 'H', "broken"), std::domain_error);
    // A plan given by a caller is refused in the same way.
    EXPECT_FALSE(incumbent.offer(plan, 'S', "start"));
  }
  EXPECT_EQ(incumbent.report().objective, 86);
}

TEST(Incumbent, AStartIsReportedByTheNameOfItsInstance) {
  ScatterPlan start = together();
  start.instance_hash = instance_hash(kStep);
  start.name = "another";
  Budget budget;
  Incumbent incumbent(kStep, budget, {});
  incumbent.offer_start(start);
  EXPECT_EQ(std::get<ScatterPlan>(*incumbent.report().plan).name, kStep.name);
}

TEST(Incumbent, ABoundAboveAVerifiedPlanIsRefused) {
  Budget budget;
  Incumbent incumbent(kStep, budget, {});
  ASSERT_TRUE(incumbent.raise_bound({"area", 40}));
  ASSERT_TRUE(incumbent.offer(together(), 'H', "plan"));
  EXPECT_FALSE(incumbent.raise_bound({"false", 44}));
  EXPECT_EQ(incumbent.bound(), 40);
  EXPECT_THAT(incumbent.report().detail, HasSubstr("false"));
  EXPECT_TRUE(incumbent.raise_bound({"exact", 43}));
  EXPECT_TRUE(incumbent.proven());
}

TEST(Incumbent, AVerifiedPlanRefutesTheBoundItBeats) {
  Budget budget;
  Incumbent incumbent(kStep, budget, {});
  ASSERT_TRUE(incumbent.raise_bound({"true", 41}));
  ASSERT_TRUE(incumbent.raise_bound({"false", 50}));
  ASSERT_TRUE(incumbent.offer(together(), 'H', "plan"));
  const Outcome outcome = incumbent.report();
  EXPECT_EQ(outcome.bound_by, "true");
  EXPECT_EQ(outcome.bound, 41);
  EXPECT_THAT(outcome.detail, HasSubstr("false"));
  for (const NamedBound& bound : outcome.bounds) EXPECT_LE(bound.value, 43);
}

TEST(Incumbent, OneEntryPerCertificate) {
  Budget budget;
  Incumbent incumbent(kStep, budget, {});
  for (const double value : {10.0, 30.0, 20.0}) incumbent.raise_bound({"milp", value});
  ASSERT_EQ(incumbent.report().bounds.size(), 1U);
  EXPECT_EQ(incumbent.report().bounds[0].value, 30);
}

TEST(Incumbent, TellsEveryImprovementAndNothingElse) {
  Budget budget;
  std::string told;
  Incumbent incumbent(kStep, budget, [&](const Improvement& better) { told += better.source; });
  incumbent.raise_bound({"area", 40});
  incumbent.raise_bound({"weaker", 30});
  incumbent.offer(apart(), 'H', "a");
  incumbent.offer(together(), 'L', "b");
  incumbent.offer(apart(), 'H', "c");
  EXPECT_EQ(told, "BHL");
}

// Plans by their objective, and a second criterion that a test sets for each.
SecondCriterion<ScatterPlan> by_batches(double tolerance) {
  return {tolerance,
          [](ScatterPlan& plan) { return -static_cast<double>(plan.micro_batches.size()); }};
}

TEST(Incumbent, TheSecondCriterionChoosesWithinItsTolerance) {
  for (const double tolerance : {0.0, 0.9, 1.0, 2.0}) {
    Budget budget;
    Incumbent incumbent(kStep, budget, {});
    incumbent.choose_by(by_batches(tolerance));
    ASSERT_TRUE(incumbent.raise_bound({"exact", 43}));
    ASSERT_TRUE(incumbent.offer(together(), 'H', "short"));
    EXPECT_FALSE(incumbent.offer(apart(), 'L', "many"));
    EXPECT_EQ(incumbent.plan()->objective_ms, 43);
    EXPECT_TRUE(incumbent.proven());
    const Outcome outcome = std::move(incumbent).conclude(StoppedBy::proof);
    const bool chosen = tolerance >= 1;  // 86 ms against 43 ms
    EXPECT_EQ(outcome.found_by, chosen ? "many" : "short");
    EXPECT_EQ(outcome.objective, chosen ? 86 : 43);
    EXPECT_EQ(outcome.status, chosen ? Status::feasible : Status::optimal);
    EXPECT_EQ(outcome.stopped_by, chosen ? StoppedBy::heuristic_end : StoppedBy::proof);
    EXPECT_EQ(outcome.improvements.back().source, chosen ? 'C' : 'H');
    EXPECT_EQ(outcome.improvements.back().objective, outcome.objective);
  }
}

// A plan that was a candidate when it came stays one, unless only equal objectives count.
TEST(Incumbent, ABetterObjectiveDropsCandidatesOnlyWithoutATolerance) {
  for (const double tolerance : {0.0, 0.1}) {
    Budget budget;
    Incumbent incumbent(kStep, budget, {});
    incumbent.choose_by(by_batches(tolerance));
    ASSERT_TRUE(incumbent.offer(apart(), 'H', "many"));
    ASSERT_TRUE(incumbent.offer(together(), 'L', "short"));
    EXPECT_EQ(incumbent.plan()->objective_ms, 43);
    EXPECT_EQ(std::move(incumbent).conclude(StoppedBy::heuristic_end).found_by,
              tolerance == 0 ? "short" : "many");
  }
}

TEST(Incumbent, EqualValuesGoByTheObjective) {
  const auto equal = [](ScatterPlan&) { return 1.0; };
  Budget budget;
  Incumbent incumbent(kStep, budget, {});
  incumbent.choose_by({1, equal});
  ASSERT_TRUE(incumbent.offer(apart(), 'H', "many"));
  ASSERT_TRUE(incumbent.offer(together(), 'L', "short"));
  incumbent.offer(apart(), 'H', "again");
  const Outcome outcome = std::move(incumbent).conclude(StoppedBy::heuristic_end);
  EXPECT_EQ(outcome.found_by, "short");
  EXPECT_EQ(outcome.improvements.back().source, 'L');
}

}  // namespace
}  // namespace stowage::incumbent_test
