#include "kernels/run/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "kernels/scatter/packed_plan.h"
#include "tests/kernels/plans.h"

namespace stowage::kernels::run_executor_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ExecutionReport run(const ScatterPlan& plan, const ExecuteOptions& options = {.scale = 1}) {
  return execute(ten_sequences(), plan, options, {}, nullptr);
}

TEST(Executor, AValidPlanComputesWhatItsSequencesComputeAlone) {
  for (const std::int64_t scale : {1, 3, 200}) {
    SCOPED_TRACE(scale);
    const ExecutionReport report = run(ten_sequences_planned(), {.scale = scale});
    EXPECT_TRUE(report.passed());
    EXPECT_THAT(report.problems.list(), IsEmpty());
    EXPECT_EQ(report.output.compared, 10);
    EXPECT_EQ(report.input_gradient.compared, 10);
    EXPECT_EQ(report.weight_gradient.compared, kWeightTensors);
    // FP32 against double: equality would mean that nothing was compared
    EXPECT_GT(report.output.error, 0);
    EXPECT_LE(report.output.error, 2e-6);
    EXPECT_LE(report.input_gradient.error, 5e-6);
    EXPECT_LE(report.weight_gradient.error, 5e-6);
    EXPECT_EQ(report.scale, scale);
  }
}

TEST(Executor, AnyGroupingOfTheSequencesPasses) {
  const ScatterInstance instance = ten_sequences();
  const std::vector<ScatterPlan> plans = {
      plan_of(instance, {{{1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}}}),
      plan_of(instance, {{{8, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}}}}),
      plan_of(instance, {{{3, {0, 5}}, {5, {3, 2}}}, {{7, {1, 4, 6, 7, 8, 9}}}}),
  };
  for (const ScatterPlan& plan : plans) {
    const ExecutionReport report = run(plan);
    EXPECT_TRUE(report.passed()) << testing::PrintToString(report.problems.list());
  }
}

TEST(Executor, SwappingTheIdsOfEqualLengthsIsAnotherValidPlan) {
  ScatterPlan plan = ten_sequences_planned();
  std::swap(plan.micro_batches[1].groups[0].sequences[1],
            plan.micro_batches[1].groups[1].sequences[0]);  // 2 and 3, 64 tokens each
  EXPECT_TRUE(run(plan).passed());
}

// Errors that leave the plan executable: the results must show them. Each is tried at full length,
// and scaled down so far that most sequences have one or two tokens.
TEST(Executor, SwappedTokensAreWrong) {
  for (const std::int64_t scale : {1, 20}) {
    ExecuteOptions options{.scale = scale};
    options.loader = [](Stream, std::int64_t id) { return id == 2 ? 3 : id == 3 ? 2 : id; };
    const ExecutionReport report = run(ten_sequences_planned(), options);
    EXPECT_FALSE(report.passed());
    // the plan itself does not show the error, but the data do
    EXPECT_THAT(report.problems.list(), IsEmpty());
    EXPECT_GT(report.output.error, 0.1);
    EXPECT_THAT(report.output.sequence, testing::AnyOf(2, 3));
    EXPECT_GT(report.input_gradient.error, 0.1);
    // Each sequence is computed once, under the other's name, so the sum does not change.
    EXPECT_TRUE(report.weight_gradient.passed());
  }
}

TEST(Executor, SwappedUpstreamGradientsSpoilOnlyTheGradients) {
  ExecuteOptions options{.scale = 1};
  options.loader = [](Stream stream, std::int64_t id) {
    return stream == Stream::upstream && (id == 2 || id == 3) ? 5 - id : id;
  };
  const ExecutionReport report = run(ten_sequences_planned(), options);
  EXPECT_TRUE(report.output.passed());
  EXPECT_GT(report.input_gradient.error, 0.1);
  EXPECT_THAT(report.input_gradient.sequence, testing::AnyOf(2, 3));
  EXPECT_FALSE(report.weight_gradient.passed());
}

TEST(Executor, SwappedIdsOfDifferentLengthsAreWrong) {
  ScatterPlan plan = ten_sequences_planned();
  std::swap(plan.micro_batches[1].groups[0].sequences[0],
            plan.micro_batches[1].groups[3].sequences[0]);  // 5 (92 tokens) and 4 (20)
  for (const std::int64_t scale : {1, 20}) {
    const ExecutionReport report = run(plan, {.scale = scale});
    EXPECT_FALSE(report.output.passed());
    EXPECT_FALSE(report.input_gradient.passed());
    EXPECT_FALSE(report.weight_gradient.passed());
    EXPECT_THAT(report.problems.list(),
                Contains("group 0 of micro-batch 1: cu_seqlens gives sequence 4 92 tokens, it has "
                         "20"));
  }
}

TEST(Executor, ACuSeqlensEntryOffByOneIsWrong) {
  for (const std::int64_t scale : {1, 20}) {
    for (const int by : {-1, 1}) {
      for (const std::size_t entry : {1, 2}) {
        ScatterPlan plan = ten_sequences_planned();
        plan.micro_batches[1].groups[0].cu_seqlens[entry] += by;
        const ExecutionReport report = run(plan, {.scale = scale});
        EXPECT_FALSE(report.passed());
        EXPECT_THAT(report.problems.list(),
                    Contains(HasSubstr("group 0 of micro-batch 1: cu_seq")));
        // One additional entry at the end cannot be executed and is cut off; the remaining results
        // are correct.
        if (entry == 2 && by == 1) continue;
        EXPECT_GT(report.output.error, 1e-3) << scale << ' ' << by << ' ' << entry;
        EXPECT_GT(report.input_gradient.error, 1e-3);
        EXPECT_GT(report.weight_gradient.error, 1e-5);
      }
    }
  }
}

TEST(Executor, ASequenceLeftOutIsWrong) {
  const ScatterInstance instance = ten_sequences();
  const ScatterPlan plan = plan_of(instance, {{{2, {0, 1, 2, 3}}, {2, {4, 6, 7, 8, 9}}}});
  const ExecutionReport report = run(plan);
  EXPECT_THAT(report.problems.list(), ElementsAre("sequence 5 was never computed"));
  EXPECT_TRUE(report.output.passed());
  EXPECT_FALSE(report.weight_gradient.passed());
  EXPECT_FALSE(report.passed());
}

TEST(Executor, ASequenceComputedTwiceIsWrong) {
  const ScatterInstance instance = ten_sequences();
  const ScatterPlan plan =
      plan_of(instance, {{{2, {0, 1, 2, 3, 5}}, {2, {4, 6, 7, 8, 9}}}, {{1, {7}}}});
  const ExecutionReport report = run(plan);
  EXPECT_THAT(report.problems.list(), ElementsAre("sequence 7 was computed 2 times"));
  EXPECT_FALSE(report.weight_gradient.passed());
  EXPECT_FALSE(report.passed());
}

TEST(Executor, AGroupThatCannotRunIsReportedWithItsSequences) {
  ScatterPlan plan = ten_sequences_planned();
  plan.micro_batches[1].groups[0].cu_seqlens.pop_back();
  const ExecutionReport report = run(plan);
  EXPECT_THAT(report.batches, SizeIs(6));
  EXPECT_THAT(report.problems.list(),
              ElementsAre("group 0 of micro-batch 1: cu_seqlens must have 3 entries, has 2",
                          "sequence 2 was never computed", "sequence 5 was never computed"));
  EXPECT_FALSE(report.weight_gradient.passed());
}

TEST(Executor, AnEmptyPlanIsRightOnlyForAnEmptyStep) {
  EXPECT_FALSE(run({}).passed());
  ScatterInstance nothing = ten_sequences();
  nothing.lengths.clear();
  EXPECT_TRUE(execute(nothing, ScatterPlan(), {}, {}, nullptr).passed());
}

TEST(Executor, EmptyGroupsAndMoreRanksThanTokensAreLegal) {
  ScatterInstance instance = ten_sequences();
  instance.pad_multiple = 1;
  instance.lengths = {1, 2};
  EXPECT_TRUE(
      execute(instance, plan_of(instance, {{{8, {0}}, {2, {}}}, {{16, {1}}}}), {}, {}, nullptr)
          .passed());
}

TEST(Executor, HeadsNeedNotDivideByTheDegree) {
  for (const BlockShape& block : {BlockShape{.heads = 7, .kv_heads = 7, .head_dim = 8},
                                  BlockShape{.heads = 12, .kv_heads = 3, .head_dim = 8},
                                  BlockShape{.heads = 1, .kv_heads = 1, .head_dim = 16}}) {
    EXPECT_TRUE(run(ten_sequences_planned(), {.scale = 2, .block = block}).passed()) << block.heads;
  }
}

TEST(Executor, ErrorsDoNotDependOnWhenOrHowOftenItRuns) {
  const ExecutionReport a = run(ten_sequences_planned());
  const ExecutionReport b = run(ten_sequences_planned(), {.scale = 1, .rounds = 2});
  EXPECT_EQ(a.output.error, b.output.error);
  EXPECT_EQ(a.output.sequence, b.output.sequence);
  EXPECT_EQ(a.weight_gradient.error, b.weight_gradient.error);
  const ExecutionReport c = run(ten_sequences_planned(), {.scale = 1, .seed = 1});
  EXPECT_NE(a.output.error, c.output.error);
}

TEST(Executor, ThreadsDoNotShow) {
  ScatterInstance instance = ten_sequences();
  instance.lengths[0] = 900;  // long enough for its reference to be shared
  const ScatterPlan plan = plan_of(instance, {{{2, {0, 1, 2}}}, {{1, {3, 4, 5, 6, 7, 8, 9}}}});
  const ExecutionReport alone = execute(instance, plan, {.scale = 1}, {}, nullptr);
  EXPECT_TRUE(alone.passed());
  for (const int threads : {2, 3}) {
    const ExecutionReport shared =
        execute(instance, plan, {.scale = 1, .threads = threads, .reference_threads = threads}, {},
                nullptr);
    EXPECT_EQ(alone.loss, shared.loss);
    EXPECT_EQ(alone.reference_loss, shared.reference_loss);
    EXPECT_EQ(alone.output.error, shared.output.error);
    EXPECT_EQ(alone.input_gradient.error, shared.input_gradient.error);
    EXPECT_EQ(alone.weight_gradient.error, shared.weight_gradient.error);
    for (const BatchMeasurement& group : shared.batches) EXPECT_GT(group.seconds, 0);
  }
}

TEST(Executor, AddsUpTheSlowestGroupOfEveryMicroBatch) {
  const ScatterPlan plan = ten_sequences_planned();
  const ExecutionReport report = run(plan);
  ASSERT_THAT(report.batches, SizeIs(7));
  double want = 0;
  for (int m = 0; m < 3; ++m) {
    double slowest = 0;
    for (const BatchMeasurement& group : report.batches) {
      EXPECT_GT(group.seconds, 0);
      EXPECT_EQ(group.ranks, group.degree);
      if (group.part == m) slowest = std::max(slowest, group.seconds);
    }
    want += slowest;
  }
  EXPECT_DOUBLE_EQ(report.critical_path_s.value(), want);
  EXPECT_DOUBLE_EQ(report.predicted_critical_path_ms, plan.objective_ms);
  EXPECT_FALSE(report.predicted_here_s.has_value());  // without rounds
}

TEST(Executor, FewerRanksThanTheDegreeIsNoted) {
  const ExecutionReport report = run(ten_sequences_planned(), {.scale = 5, .max_ranks = 3});
  EXPECT_TRUE(report.passed());
  EXPECT_THAT(report.notes,
              ElementsAre("group 0 of micro-batch 0: degree 8 was executed on 3 ranks",
                          "group 0 of micro-batch 1: degree 4 was executed on 3 ranks"));
}

TEST(Executor, StopsWhenAskedAndSaysSo) {
  std::atomic<bool> interrupt = false;
  Budget budget({.interrupt = &interrupt});
  int calls = 0;
  const auto progress = [&](const ExecutionProgress& state) {
    EXPECT_EQ(state.batches, 7);
    EXPECT_EQ(state.batches_done, ++calls);
    if (calls == 2) interrupt = true;
  };
  const ExecutionReport report =
      execute(ten_sequences(), ten_sequences_planned(), {.scale = 1}, progress, &budget);
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(report.batches, SizeIs(2));
  EXPECT_FALSE(report.complete);
  EXPECT_FALSE(report.passed());
  EXPECT_EQ(report.stopped_by, StopReason::interrupted);
  EXPECT_EQ(report.weight_gradient.compared, 0);
  EXPECT_FALSE(report.weight_gradient.passed());  // nor has it failed
  EXPECT_FALSE(report.weight_gradient.failed());
  EXPECT_TRUE(report.output.passed());
  EXPECT_FALSE(report.deviates());
  EXPECT_FALSE(report.critical_path_s);
  EXPECT_DOUBLE_EQ(report.predicted_critical_path_ms, ten_sequences_planned().objective_ms);
  EXPECT_THAT(report.problems.list(),
              ElementsAre("stopped after 2 of 7 groups: the budget is exhausted"));
}

TEST(Executor, AStepThatLacksABatchHasNoMeasuredTime) {
  ScatterPlan plan = ten_sequences_planned();
  plan.micro_batches[0].groups[0].cu_seqlens.clear();
  const ExecutionReport report = run(plan);
  EXPECT_TRUE(report.complete);
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.batches, SizeIs(6));
  EXPECT_FALSE(report.critical_path_s);
  EXPECT_DOUBLE_EQ(report.predicted_critical_path_ms, plan.objective_ms);
}

TEST(Executor, OptionsOutOfRangeAreProblems) {
  const auto problem = [](const ExecuteOptions& options) {
    const ExecutionReport report = run(ten_sequences_planned(), options);
    EXPECT_FALSE(report.passed());
    EXPECT_GT(report.predicted_critical_path_ms, 0);
    return report.problems.list().at(0);
  };
  EXPECT_THAT(problem({.block = {.head_dim = 3}}), HasSubstr("head_dim must be even"));
  EXPECT_THAT(problem({.max_ranks = 0}), HasSubstr("max_ranks must be from 1"));
  EXPECT_THAT(problem({.threads = 0}), HasSubstr("threads must be from 1 to 1024, is 0"));
  EXPECT_THAT(problem({.reference_threads = 1025}), HasSubstr("reference_threads must be from 1"));
  EXPECT_THAT(problem({.rounds = -1}), HasSubstr("rounds must be at least 0"));
  EXPECT_THAT(problem({.scale = -1}), HasSubstr("scale must be 0 or more"));
}

}  // namespace
}  // namespace stowage::kernels::run_executor_test
