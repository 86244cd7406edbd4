// Assign plans in the executor: rows of replicas give the same results as the sequences alone.
#include "kernels/run/packed_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instances/assign/plan_builder.h"
#include "instances/assign/verify/verify.h"
#include "instances/pipeline/schedule.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/verify/verify.h"
#include "kernels/assign/packed_plan.h"
#include "kernels/run/executor.h"
#include "kernels/scatter/packed_plan.h"
#include "tests/kernels/plans.h"

namespace stowage::kernels::run_packed_plan_test {
namespace {

AssignInstance ten_assigned() {
  return {.name = "ten",
          .devices = 8,
          .schemes = {{.name = "4x1",
                       .tp = 4,
                       .pp = 1,
                       .quadratic_ms = 0.001,
                       .linear_ms = 0.1,
                       .fixed_ms = 5,
                       .max_tokens = 160},
                      {.name = "1x2",
                       .tp = 1,
                       .pp = 2,
                       .quadratic_ms = 0.004,
                       .linear_ms = 0.3,
                       .fixed_ms = 2,
                       .max_tokens = 100}},
          .strategies = {{.name = "mix", .replicas = {1, 2}}},
          .pad_multiple = 4,
          .lengths = {150, 3, 64, 64, 17, 90, 33, 1, 40, 5}};
}

AssignPlan planned(const AssignInstance& instance) {
  AssignPlan plan = compose_assign(instance, 0,
                                   {{.scheme = 0, .rows = {{0}, {5, 2}, {7, 1}}},
                                    {.scheme = 1, .rows = {{3}, {6, 8, 9}}},
                                    {.scheme = 1, .rows = {{4}}}});
  EXPECT_TRUE(verify(instance, plan).empty());
  return plan;
}

TEST(PackedPlan, RowsOfReplicasAreBatchesLikeAnyOther) {
  const AssignInstance instance = ten_assigned();
  const AssignPlan plan = planned(instance);
  const PackedPlan packed = packed_plan(instance, plan);
  ASSERT_EQ(packed.batches.size(), 6U);
  EXPECT_EQ(packed.stages, (std::vector<int>{1, 2, 2}));
  EXPECT_EQ(packed.name(1, 0), "row 0 of replica 1");
  EXPECT_EQ(packed.batches[0].degree, 4);
  EXPECT_EQ(packed.batches[5].degree, 1);
  EXPECT_EQ(packed.batches[0].predicted_ms, plan.replicas[0].rows[0].time_ms);
  EXPECT_THAT(packed.notes, testing::ElementsAre("replica 1: one of 2 stages was executed",
                                                 "replica 2: one of 2 stages was executed"));
  const ScatterPlan scatter = ten_sequences_planned();
  EXPECT_EQ(packed_plan(ten_sequences(), scatter).name(1, 0), "group 0 of micro-batch 1");
}

TEST(PackedPlan, GradientsOverRowsAndReplicasAreThoseOfTheSequencesAlone) {
  const AssignInstance instance = ten_assigned();
  const AssignPlan plan = planned(instance);
  for (const std::int64_t scale : {1, 3}) {
    const ExecutionReport report = execute(instance, plan, {.scale = scale}, {}, nullptr);
    EXPECT_TRUE(report.passed());
    EXPECT_THAT(report.problems.list(), testing::IsEmpty());
    EXPECT_EQ(report.output.compared, 10);
    EXPECT_GT(report.weight_gradient.compared, 0);
    EXPECT_EQ(report.part_word, "replica");
    // The plan's objective: of the slowest replica its rows, and of pipelines the longest again.
    EXPECT_NEAR(report.predicted_critical_path_ms, plan.objective_ms, 1e-9 * plan.objective_ms);
  }
}

// The end of the schedule is that of the plan, and follows the order and the times of the batches.
TEST(PackedPlan, TheSimulatedEndIsThatOfThePlan) {
  const AssignInstance assigned = ten_assigned();
  const AssignPlan rows = planned(assigned);
  const ExecutionReport of_rows = execute(assigned, rows, {}, {}, nullptr);
  ASSERT_TRUE(of_rows.predicted_simulated_ms && of_rows.simulated_s);
  EXPECT_NEAR(*of_rows.predicted_simulated_ms, rows.simulated_1f1b_ms,
              1e-9 * rows.simulated_1f1b_ms);
  ScatterInstance step = ten_sequences();
  EXPECT_FALSE(execute(step, ten_sequences_planned(), {}, {}, nullptr).predicted_simulated_ms);
  step.pipeline_stages = 3;
  ScatterPlan plan = ten_sequences_planned();
  plan.simulated_1f1b_ms = simulate_1f1b(makespans_of(plan), 3);
  const PackedPlan packed = packed_plan(step, plan);
  ASSERT_TRUE(packed.simulated_ms);
  EXPECT_NEAR(*packed.simulated_ms, plan.simulated_1f1b_ms, 1e-9 * plan.simulated_1f1b_ms);
  std::vector<TimedBatch> times;
  for (const PackedBatch& batch : packed.batches) {
    times.push_back({batch.part, 2 * batch.predicted_ms});
  }
  EXPECT_NEAR(*simulated_step_time(packed, times), 2 * plan.simulated_1f1b_ms,
              1e-9 * plan.simulated_1f1b_ms);
  times.front().longest_share = 0.5;
  EXPECT_FALSE(simulated_step_time(packed, times));
}

// A row weighted by its padded tokens would have too large gradients.
TEST(PackedPlan, TheLossTokensOfThePlanAreTheDenominators) {
  const AssignInstance instance = ten_assigned();
  const AssignPlan plan = planned(instance);
  for (const PackedBatch& batch : packed_plan(instance, plan).batches) {
    EXPECT_EQ(batch.loss_scale, 1);
  }
  AssignPlan row = plan;
  row.replicas[0].rows[0].loss_tokens = row.replicas[0].rows[0].tokens;
  EXPECT_NEAR(packed_plan(instance, row).batches[0].loss_scale, 1, 0.5);
  EXPECT_FALSE(execute(instance, row, {.scale = 2}, {}, nullptr).passed());
  AssignPlan all = plan;
  all.loss_tokens += 7;
  EXPECT_FALSE(execute(instance, all, {.scale = 2}, {}, nullptr).passed());
  all.loss_tokens = 0;
  EXPECT_FALSE(execute(instance, all, {.scale = 2}, {}, nullptr).passed());
}

TEST(PackedPlan, ThePlanStatesTheTokensOfItsRows) {
  const AssignInstance instance = ten_assigned();
  AssignPlan plan = planned(instance);
  Tokens stated = 0;
  for (const PackedBatch& batch : packed_plan(instance, plan).batches) stated += batch.tokens;
  Tokens padded = 0;
  for (const Tokens length : padded_lengths(instance)) padded += length;
  EXPECT_EQ(stated, padded);
  plan.replicas[0].rows[0].tokens += 1;
  const ExecutionReport report = execute(instance, plan, {.scale = 2}, {}, nullptr);
  EXPECT_FALSE(report.passed());
  ASSERT_EQ(report.problems.list().size(), 1U);
  EXPECT_THAT(report.problems.list()[0], testing::HasSubstr("row 0 of replica 0: tokens says "));
}

TEST(PackedPlan, WrongRowsAreFoundOut) {
  const AssignInstance instance = ten_assigned();
  AssignPlan swapped = planned(instance);  // the loader packs the sequences that the plan names
  std::swap(swapped.replicas[1].rows[0].sequences, swapped.replicas[2].rows[0].sequences);
  EXPECT_FALSE(execute(instance, swapped, {}, {}, nullptr).passed());
  AssignPlan missing = planned(instance);
  missing.replicas[2].rows.clear();
  const ExecutionReport report = execute(instance, missing, {}, {}, nullptr);
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.problems.list(), testing::Contains("sequence 4 was never computed"));
  AssignPlan nameless = planned(instance);
  nameless.replicas[0].scheme = "none";
  EXPECT_FALSE(execute(instance, nameless, {}, {}, nullptr).passed());
}

}  // namespace
}  // namespace stowage::kernels::run_packed_plan_test
