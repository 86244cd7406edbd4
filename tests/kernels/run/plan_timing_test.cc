#include "kernels/run/timing/plan_timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instances/assign/plan_builder.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/plan_builder.h"
#include "kernels/assign/packed_plan.h"
#include "kernels/run/scaled_instance.h"
#include "kernels/scatter/packed_plan.h"

namespace stowage::kernels::run_plan_timing_test {
namespace {

using ::testing::ElementsAre;

ScatterInstance small_step() {
  return {.name = "step",
          .cluster = {.devices = 4, .memory_mib = 100, .degrees = {1, 2, 4}},
          .model = {.states_mib = 20, .activation_mib_per_token = 1},
          .cost = {.quadratic_ms = 0.01, .linear_ms = 0.5, .fixed_ms = 3},
          .lengths = {100, 64, 80, 8, 16, 24}};
}

TEST(PlanTiming, AScatterStepIsTheSumOfItsSlowestGroups) {
  const ScatterInstance step = small_step();
  const ScatterPlan plan = compose_plan(step, {{{2, {0}}, {1, {1}}, {1, {2}}}, {{4, {3, 4, 5}}}});
  const PackedPlan packed = packed_plan(step, plan);
  ASSERT_EQ(packed.batches.size(), 4U);
  EXPECT_EQ(step_time(packed, {{0, 5}, {0, 7}, {0, 6}, {1, 2}}), 9);
  const PlanTiming timing = time_plans({&packed, 1}, {.rounds = 2}, {}, nullptr).front();
  EXPECT_TRUE(timing.complete);
  EXPECT_EQ(timing.predicted_ms, plan.objective_ms);
  EXPECT_EQ(timing.batch_seconds.size(), 4U);
  for (const double seconds : timing.batch_seconds) EXPECT_GT(seconds, 0);
}

TEST(PlanTiming, InAPipelineTheSlowestGroupOfAllCountsForEveryStage) {
  ScatterInstance step = small_step();
  step.pipeline_stages = 4;
  const ScatterPlan plan = compose_plan(step, {{{2, {0}}, {1, {1}}, {1, {2}}}, {{4, {3, 4, 5}}}});
  const PackedPlan packed = packed_plan(step, plan);
  EXPECT_EQ(step_time(packed, {{0, 5}, {0, 7}, {0, 6}, {1, 2}}), 9 + 3 * 7);
  std::vector<TimedBatch> times;
  for (const PackedBatch& batch : packed.batches) {
    times.push_back({batch.part, batch.predicted_ms});
  }
  EXPECT_EQ(step_time(packed, times), plan.objective_ms);
  EXPECT_EQ(packed.notes.size(), 1U);
}

TEST(PlanTiming, AnAssignStepIsItsSlowestReplicaWithItsBubble) {
  const AssignInstance step{
      .name = "step",
      .devices = 4,
      .schemes = {{.name = "deep", .tp = 1, .pp = 3, .linear_ms = 1, .max_tokens = 100},
                  {.name = "flat", .linear_ms = 1, .max_tokens = 100}},
      .strategies = {{.name = "both", .replicas = {1, 1}}},
      .lengths = {10, 20, 30}};
  const AssignPlan plan = compose_assign(step, 0, {{0, {{0}, {1}}}, {1, {{2}}}});
  const PackedPlan packed = packed_plan(step, plan);
  std::vector<TimedBatch> times;
  for (const PackedBatch& batch : packed.batches) {
    times.push_back({batch.part, batch.predicted_ms});
  }
  EXPECT_EQ(step_time(packed, times), 10 + 20 + 2 * 20);
  EXPECT_EQ(step_time(packed, times), plan.objective_ms);
}

TEST(PlanTiming, EqualBatchesOfSeveralPlansRunOnce) {
  const ScatterInstance step = small_step();
  const ScatterPlan one = compose_plan(step, {{{2, {0}}, {1, {1}}, {1, {2}}}, {{4, {3, 4, 5}}}});
  const ScatterPlan other = compose_plan(step, {{{2, {0}}, {1, {1}}, {1, {2}}}, {{2, {3, 4, 5}}}});
  const std::vector<PackedPlan> plans = {packed_plan(step, one), packed_plan(step, other)};
  std::int64_t runs = 0;
  const std::vector<PlanTiming> timings = time_plans(
      plans, {.rounds = 2},
      [&runs](std::int64_t done, std::int64_t all) {
        EXPECT_EQ(all, 2 * 5);
        runs = done;
      },
      nullptr);
  EXPECT_EQ(runs, 10);
  for (int batch = 0; batch < 3; ++batch) {
    EXPECT_EQ(timings[0].batch_seconds[at(batch)], timings[1].batch_seconds[at(batch)]);
  }
  EXPECT_NE(timings[0].batch_seconds[3], timings[1].batch_seconds[3]);
}

TEST(PlanTiming, AWrongPlanIsNotTimed) {
  const ScatterInstance step = small_step();
  ScatterPlan plan = compose_plan(step, {{{4, {0, 1, 2, 3, 4, 5}}}});
  plan.micro_batches[0].groups[0].sequences[0] = 17;
  const PackedPlan packed = packed_plan(step, plan);
  const PlanTiming timing = time_plans({&packed, 1}, {}, {}, nullptr).front();
  EXPECT_FALSE(timing.complete);
  EXPECT_FALSE(timing.problems.list().empty());
}

TEST(ShrunkStep, KeepsWhichDegreesHoldWhichSequences) {
  const ScatterCost cost{.quadratic_ms = 1, .linear_ms = 2, .fixed_ms = 3};
  const ScatterInstance here = scaled_instance(small_step(), 8, cost);
  EXPECT_THAT(here.lengths, ElementsAre(13, 8, 10, 1, 2, 3));
  EXPECT_EQ(tokens_per_device(here), 10);  // 80 / 8
  EXPECT_EQ(here.cost, cost);
  EXPECT_EQ(here.pad_multiple, 1);
  EXPECT_TRUE(unplaceable_sequences(here).empty());
}

TEST(ShrunkStep, AStepThatHasAPlanStillHasOne) {
  ScatterInstance step = small_step();
  step.pad_multiple = 16;
  step.lengths = {320, 319, 161, 80};
  ASSERT_TRUE(unplaceable_sequences(step).empty());
  for (std::int64_t scale = 1; scale < 400; ++scale) {
    EXPECT_TRUE(unplaceable_sequences(scaled_instance(step, scale, step.cost)).empty()) << scale;
  }
}

}  // namespace
}  // namespace stowage::kernels::run_plan_timing_test
