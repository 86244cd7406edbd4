#include "kernels/run/timing/batch_times.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "instances/scatter/plan_builder.h"
#include "kernels/run/executor.h"
#include "kernels/scatter/packed_plan.h"

namespace stowage::kernels::run_batch_times_test {
namespace {

ScatterInstance twelve_sequences() {
  return {.name = "step",
          .cluster = {.devices = 4, .memory_mib = 1000, .degrees = {1, 2, 4}},
          .model = {.states_mib = 20, .activation_mib_per_token = 1},
          .cost = {.quadratic_ms = 0.01, .linear_ms = 0.5, .fixed_ms = 3},
          .lengths = {700, 464, 180, 128, 96, 124, 300, 250, 90, 60, 500, 30}};
}

ScatterPlan planned(const ScatterInstance& step) {
  return compose_plan(
      step, {{{2, {0}}, {1, {1, 9}}, {1, {2, 3, 4}}}, {{4, {5, 6, 7, 8}}}, {{2, {10}}, {1, {11}}}});
}

// A pool whose times follow a formula, so that predictions can be judged. Every run computes
// nothing.
class FormulaPool final : public RankPool {
 public:
  std::optional<int> ranks() const override { return std::nullopt; }
  void prepare(const Model& /*model*/) override {}
  std::vector<GroupOutput> run(std::span<const GroupWork> groups) override {
    std::vector<GroupOutput> outputs(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const GroupTask& task = groups[g].task;
      double squares = 0;
      for (std::size_t i = 0; i + 1 < task.cu_seqlens.size(); ++i) {
        squares += std::pow(task.cu_seqlens[i + 1] - task.cu_seqlens[i], 2);
      }
      outputs[g].seconds = (1e-6 * squares + 1e-3 * static_cast<double>(task.tokens)) / task.ranks +
                           2e-3 * static_cast<double>(task.cu_seqlens.size() - 1) + 0.01;
      ++runs;
    }
    return outputs;
  }

  int runs = 0;
};

TEST(BatchTimes, APackOfOtherLengthsPredictsABatchThatFollowsTheFormula) {
  const ScatterInstance step = twelve_sequences();
  const ScatterPlan plan = planned(step);
  const PackedPlan packed = packed_plan(step, plan);
  const ScaledPlan scaled = scale_plan(packed, {}, 1, 0);
  ASSERT_EQ(scaled.batches.size(), 6U);
  FormulaPool pool;
  const BatchTimes times =
      batch_times(pool, {.rounds = 2, .least_packs = 12}, scaled, {2, 1, 1, 4, 2, 1}, {}, nullptr);
  EXPECT_EQ(times.packs, 36);  // of three numbers of ranks
  EXPECT_EQ(pool.runs, 2 * (36 + 6));
  ASSERT_EQ(times.batches.size(), 6U);
  for (const BatchTime& batch : times.batches) {
    ASSERT_TRUE(batch.predicted_s.has_value());
    EXPECT_LT(batch.deviation().value(), 1e-6);
  }
}

TEST(BatchTimes, AnEndedBudgetTimesNothing) {
  const ScatterInstance step = twelve_sequences();
  const ScatterPlan plan = planned(step);
  const PackedPlan packed = packed_plan(step, plan);
  const std::atomic<bool> stop = true;
  Budget budget({.interrupt = &stop});
  FormulaPool pool;
  EXPECT_TRUE(batch_times(pool, {}, scale_plan(packed, {}, 1, 0), {2, 1, 1, 4, 2, 1}, {}, &budget)
                  .batches.empty());
}

TEST(BatchTimes, TheExecutorTakesThemIntoItsReport) {
  const ScatterInstance step = twelve_sequences();
  std::int64_t told = 0;
  const ExecutionReport report = execute(
      step, planned(step), {.scale = 4, .rounds = 3},
      [&](const ExecutionProgress& progress) { told = std::max(told, progress.timed); }, nullptr);
  ASSERT_TRUE(report.passed());
  EXPECT_EQ(report.packs, 24);
  EXPECT_EQ(told, 3 * (24 + 6));
  double worst = 0;
  for (const BatchMeasurement& batch : report.batches) {
    EXPECT_GT(batch.seconds, 0);
    ASSERT_TRUE(batch.predicted_here_s.has_value());
    EXPECT_GT(*batch.predicted_here_s, 0);
    worst = std::max(worst, std::abs(*batch.predicted_here_s / batch.seconds - 1));
  }
  EXPECT_DOUBLE_EQ(report.largest_deviation.value(), worst);
  EXPECT_LE(report.median_deviation.value(), worst);
  EXPECT_DOUBLE_EQ(report.step_deviation().value(),
                   std::abs(*report.predicted_here_s / *report.critical_path_s - 1));
}

TEST(BatchTimes, ABrokenPlanIsNotTimed) {
  const ScatterInstance step = twelve_sequences();
  ScatterPlan plan = planned(step);
  plan.micro_batches[1].groups[0].cu_seqlens[1] += 1;
  const ExecutionReport report = execute(step, plan, {.scale = 4, .rounds = 3}, {}, nullptr);
  EXPECT_FALSE(report.passed());
  EXPECT_EQ(report.packs, 0);
  EXPECT_FALSE(report.predicted_here_s.has_value());
}

}  // namespace
}  // namespace stowage::kernels::run_batch_times_test
