#include "kernels/strategy/strategy_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/block/block_reference.h"
#include "kernels/block/relative_error.h"
#include "kernels/block/synthetic.h"
#include "kernels/strategy/stage_memory.h"
#include "kernels/strategy/strategy_report.h"
#include "tests/kernels/strategy/tasks.h"

namespace stowage::kernels::strategy_strategy_step_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Configurations on four ranks.
const std::vector<Mixture> kMixtures = {
    {.tp = 4, .layers = {3}, .recompute = {kNone}},
    {.tp = 2, .cp = 2, .micro_batches = 2, .layers = {2}, .recompute = {kSelective}},
    {.cp = 4, .layers = {2}, .recompute = {kFull}},
    {.cp = 2, .dp = 2, .micro_batches = 3, .layers = {2}, .recompute = {kNone}},
    {.dp = 4, .micro_batches = 2, .layers = {2}, .recompute = {kSelective}},
    {.tp = 2, .dp = 2, .micro_batches = 2, .layers = {2}, .recompute = {kFull}},
    {.pp = 4,
     .micro_batches = 6,
     .layers = {2, 1, 3, 1},
     .recompute = {kFull, kSelective, kNone, kNone}},
    {.pp = 4,
     .micro_batches = 2,
     .layers = {1, 1, 1, 1},
     .recompute = {kNone, kNone, kNone, kFull}},
    {.pp = 4,
     .v = 2,
     .micro_batches = 8,
     .layers = {2, 2, 2, 2},
     .recompute = {kNone, kSelective, kFull, kNone}},
    {.pp = 2, .tp = 2, .micro_batches = 4, .layers = {3, 2}, .recompute = {kSelective, kNone}},
    {.pp = 2, .cp = 2, .micro_batches = 3, .layers = {1, 2}, .recompute = {kNone, kFull}},
    {.pp = 2, .dp = 2, .micro_batches = 3, .layers = {2, 3}, .recompute = {kFull, kSelective}},
    {.pp = 2, .v = 2, .tp = 2, .micro_batches = 4, .layers = {4, 2}, .recompute = {kFull, kNone}},
    {.pp = 2,
     .v = 3,
     .cp = 2,
     .micro_batches = 6,
     .layers = {3, 6},
     .recompute = {kSelective, kSelective}},
    {.pp = 2, .v = 2, .dp = 2, .micro_batches = 2, .layers = {2, 2}, .recompute = {kNone, kFull}},
    // With a head, whose logits are most of the memory or little of it.
    {.tp = 4, .layers = {1}, .recompute = {kFull}, .vocabulary = 40},
    {.cp = 2,
     .dp = 2,
     .micro_batches = 2,
     .layers = {1},
     .recompute = {kNone},
     .vocabulary = 3000,
     .logit_chunks = 2},
    {.pp = 2,
     .tp = 2,
     .micro_batches = 4,
     .layers = {2, 1},
     .recompute = {kNone, kFull},
     .vocabulary = 400,
     .logit_chunks = 3},
    {.pp = 4,
     .micro_batches = 4,
     .layers = {1, 1, 1, 1},
     .recompute = {kNone, kNone, kFull, kSelective},
     .vocabulary = 2001,
     .logit_chunks = 100},
    {.pp = 2,
     .v = 2,
     .dp = 2,
     .micro_batches = 4,
     .layers = {2, 2},
     .recompute = {kFull, kNone},
     .vocabulary = 701,
     .logit_chunks = 4},
};

std::string name_of(const Mixture& m) {
  return "pp " + std::to_string(m.pp) + " v " + std::to_string(m.v) + " tp " +
         std::to_string(m.tp) + " cp " + std::to_string(m.cp) + " dp " + std::to_string(m.dp) +
         " vocabulary " + std::to_string(m.vocabulary);
}

TEST(StrategyStep, MixturesEqualOneRank) {
  for (const Mixture& mixture : kMixtures) {
    for (const bool equal : {false, true}) {
      SCOPED_TRACE(name_of(mixture) + (equal ? ", equal rows" : ""));
      const StrategyTask task = task_of(mixture, equal);
      ASSERT_THAT(check(task), IsEmpty());
      ASSERT_EQ(task.ranks(), 4);
      const StrategyReport report = judge_step(task, run_on_threads(task), {});
      EXPECT_THAT(report.problems.list(), IsEmpty());
      EXPECT_TRUE(report.passed());
      EXPECT_LE(report.output.error, 1e-5);
      EXPECT_LE(report.input_gradient.error, 1e-5);
      EXPECT_LE(report.weight_gradient.error, 1e-5) << report.weight_gradient.weight;
      EXPECT_LE(report.loss_error, 1e-5);
      EXPECT_EQ(report.output.compared, std::ssize(task.lengths));
      EXPECT_EQ(report.weight_gradient.compared,
                kWeightTensors * task.all_layers() + (mixture.vocabulary > 0 ? 1 : 0));
      EXPECT_GT(report.critical_path_s.value_or(0), 0);
      for (const StageMeasurement& stage : report.stages) {
        EXPECT_EQ(stage.high_water, stage.counted);
        EXPECT_LE(stage.counted, stage.planned);
        if (equal) {
          EXPECT_EQ(stage.counted, stage.planned);
        }
      }
    }
  }
}

// Slices of rows of 9 and of 8 tokens have 2 tokens each except one, but their working memory is
// that of the whole row.
TEST(StrategyStep, SlicesAsLongOfLongerRowsArePlannedFor) {
  const Mixture mixture{.cp = 4, .micro_batches = 2, .layers = {2}, .recompute = {kFull}};
  for (const std::vector<Tokens>& lengths : {std::vector<Tokens>{9, 8}, {8, 9}}) {
    StrategyTask task = task_of(mixture, true);
    task.lengths = lengths;
    task.rows = {{{0}}, {{1}}};
    ASSERT_THAT(check(task), IsEmpty());
    const StrategyReport report = judge_step(task, run_on_threads(task), {});
    EXPECT_THAT(report.problems.list(), IsEmpty());
    EXPECT_TRUE(report.passed());
  }
}

// The one rank of the report, by hand: layers of the reference in double, each sequence alone.
TEST(StrategyStep, EqualsTheReferenceInDouble) {
  const StrategyTask task = task_of(kMixtures[12], false);
  const StrategyStep step = run_on_threads(task);
  ASSERT_FALSE(step.error);
  const int layers = task.all_layers();
  std::vector<BlockWeights<double>> gradients(layers, zero_weights<double>(task.block));
  for (std::size_t id = 0; id < task.lengths.size(); ++id) {
    std::vector<float> x(task.lengths[id] * task.block.hidden), upstream(x.size());
    fill_tokens({task.seed, Stream::input}, static_cast<std::int64_t>(id), 0, 32, x);
    fill_tokens({task.seed, Stream::upstream}, static_cast<std::int64_t>(id), 0, 32, upstream);
    const std::vector<std::int32_t> cu = {0, static_cast<std::int32_t>(task.lengths[id])};
    std::vector<std::vector<double>> inputs = {{x.begin(), x.end()}};
    const std::vector<double> nothing(x.size());
    for (int layer = 0; layer < layers; ++layer) {
      inputs.push_back(
          block_reference(task.block, widen(layer_weights(task, layer)), cu, inputs.back(), nothing)
              .y);
    }
    EXPECT_LE(relative_l2(step.y[id], inputs.back()), 5e-6);
    std::vector<double> dy(upstream.begin(), upstream.end());
    for (int layer = layers - 1; layer >= 0; --layer) {
      const BlockResult result =
          block_reference(task.block, widen(layer_weights(task, layer)), cu, inputs[layer], dy);
      dy = result.dx;
      for (int t = 0; t < kWeightTensors; ++t) {
        std::vector<double>& sum = *gradients[layer].tensors()[t];
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += (*result.gradient.tensors()[t])[i];
      }
    }
    EXPECT_LE(relative_l2(step.dx[id], dy), 1e-5);
  }
  for (int layer = 0; layer < layers; ++layer) {
    for (int t = 0; t < kWeightTensors; ++t) {
      EXPECT_LE(relative_l2(*step.gradients[layer].tensors()[t], *gradients[layer].tensors()[t]),
                1e-5)
          << layer << ' ' << kWeightNames[t];
    }
  }
}

TEST(StrategyStep, TheSameBitsEveryTime) {
  const StrategyTask task = task_of(kMixtures[13], false);
  const StrategyStep a = run_on_threads(task), b = run_on_threads(task);
  EXPECT_EQ(a.y, b.y);
  EXPECT_EQ(a.dx, b.dx);
  EXPECT_EQ(a.high_water, b.high_water);
  for (std::size_t layer = 0; layer < a.gradients.size(); ++layer) {
    for (int t = 0; t < kWeightTensors; ++t) {
      EXPECT_EQ(*a.gradients[layer].tensors()[t], *b.gradients[layer].tensors()[t]);
    }
  }
}

// All forward passes run first: the results are correct, but the memory exceeds the plan.
TEST(StrategyReport, AnotherOrderNeedsMoreThanThePlanSays) {
  const StrategyTask planned = task_of(kMixtures[6], true);
  StrategyTask task = planned;
  for (std::vector<StagePass>& passes : task.order) {
    std::ranges::stable_partition(passes, [](const StagePass& pass) { return pass.forward; });
  }
  const StrategyStep step = run_on_threads(task);
  const StrategyReport report = judge_step(planned, step, {});
  EXPECT_TRUE(report.output.passed());
  EXPECT_TRUE(report.weight_gradient.passed());
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.problems.list(), Contains(HasSubstr("more than")));
  // The report counts the memory of that order too.
  const StrategyReport own = judge_step(task, step, {});
  for (const StageMeasurement& stage : own.stages) EXPECT_EQ(stage.high_water, stage.counted);
}

TEST(StrategyReport, AStageThatKeepsTooMuchIsFound) {
  const StrategyTask planned = task_of(kMixtures[9], true);
  StrategyTask task = planned;
  task.recompute[0] = kNone;
  const StrategyReport report = judge_step(planned, run_on_threads(task), {});
  EXPECT_TRUE(report.input_gradient.passed());
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.problems.list(), Contains(HasSubstr("of stage 0 held")));
  EXPECT_GT(report.stages[0].high_water, report.stages[0].planned);
  EXPECT_EQ(report.stages[1].high_water, report.stages[1].planned);
}

TEST(StrategyReport, WrongNumbersAreFound) {
  const StrategyTask task = task_of(kMixtures[9], false);
  const StrategyStep good = run_on_threads(task);
  const auto after = [&](auto damage) {
    StrategyStep step = good;
    damage(step);
    return judge_step(task, step, {});
  };
  EXPECT_TRUE(judge_step(task, good, {}).passed());
  const StrategyReport weight = after([](StrategyStep& step) { step.gradients[3].up[7] += 1; });
  EXPECT_FALSE(weight.passed());
  EXPECT_EQ(weight.weight_gradient.weight, "layer 3 up");
  const StrategyReport input = after([](StrategyStep& step) { step.dx[2][0] += 1; });
  EXPECT_FALSE(input.passed());
  EXPECT_EQ(input.input_gradient.sequence, 2);
  const StrategyReport output = after([](StrategyStep& step) { std::swap(step.y[0], step.y[1]); });
  EXPECT_FALSE(output.passed());
  EXPECT_FALSE(after([](StrategyStep& step) { step.left[1] = 4; }).passed());
  EXPECT_FALSE(after([](StrategyStep& step) { step.high_water[0] -= 4; }).passed());
  EXPECT_FALSE(after([](StrategyStep& step) { step.y[1][0] = NAN; }).passed());
}

TEST(StrategyReport, AHeadIsCompared) {
  const StrategyTask task = task_of(kMixtures[16], true);
  StrategyStep step = run_on_threads(task);
  EXPECT_TRUE(judge_step(task, step, {}).passed());
  // With fewer chunks there are more logits than the plan allows.
  StrategyTask fewer = task;
  fewer.logit_chunks = 1;
  const StrategyReport full = judge_step(task, run_on_threads(fewer), {});
  EXPECT_FALSE(full.passed());
  EXPECT_TRUE(full.weight_gradient.passed());
  EXPECT_GT(full.stages[0].high_water, full.stages[0].planned);
  step.head_gradient[77] += 1;
  const StrategyReport gradient = judge_step(task, step, {});
  EXPECT_FALSE(gradient.passed());
  EXPECT_EQ(gradient.weight_gradient.weight, "head");
  step.head_gradient[77] -= 1;
  step.loss *= 1.001;
  EXPECT_FALSE(judge_step(task, step, {}).passed());
}

TEST(StrategyReport, RunsRepeatedlyAndStopsWithTheBudget) {
  const StrategyTask task = task_of(kMixtures[9], false);
  int runs = 0;
  const StrategyRunner run = [&runs](const StrategyTask& its, const Budget* budget) {
    ++runs;
    StrategyStep step = run_on_threads(its, budget);
    for (auto& parts : step.seconds[0]) parts[0].forward = runs == 2 ? 1 : 2;
    return step;
  };
  const StrategyReport report = execute_strategy(task, run, {.repeats = 3}, nullptr);
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(report.stages[0].forward_s, task.micro_batches());
  EXPECT_GT(report.stages[1].backward_s, 0);
  EXPECT_GE(*report.critical_path_s, task.micro_batches());
  EXPECT_GE(*report.formula_s, task.micro_batches());
  Budget none({.time_limit_s = 0});
  const StrategyReport stopped = execute_strategy(task, run, {}, &none);
  EXPECT_FALSE(stopped.passed());
  EXPECT_FALSE(stopped.complete);
  EXPECT_EQ(stopped.stopped_by, StopReason::time_limit);
  EXPECT_EQ(runs, 3);
}

// Every reading of the clock is a tick: the step ends at each of them, and so does the comparison.
TEST(StrategyReport, StopsInTheMiddleOfAStepAndOfTheComparison) {
  const StrategyTask task = task_of(kMixtures[9], false);
  Budget all({.time_limit_s = 1e9, .clock = BudgetClock::looks});
  EXPECT_TRUE(execute_strategy(task, run_on_threads, {}, &all).passed());
  const double ticks = all.seconds() * 1e6;
  ASSERT_GT(ticks, 40);
  int in_the_step = 0, in_the_comparison = 0;
  for (const double end : {3.0, 10.0, 20.0, ticks / 2, ticks - 5}) {
    int failed = 0;
    const StrategyRunner run = [&failed](const StrategyTask& its, const Budget* budget) {
      StrategyStep step = run_on_threads(its, budget);
      failed = step.error ? 1 : 0;
      return step;
    };
    Budget some({.time_limit_s = end * 1e-6, .clock = BudgetClock::looks});
    const StrategyReport report = execute_strategy(task, run, {}, &some);
    EXPECT_FALSE(report.complete);
    EXPECT_TRUE(report.problems.list().empty());
    EXPECT_EQ(report.stopped_by, StopReason::time_limit);
    EXPECT_EQ(report.output.compared, 0);
    EXPECT_EQ(report.output.tolerance, 1e-5);
    ASSERT_EQ(std::ssize(report.stages), task.pp);
    EXPECT_GT(report.stages[0].planned, 0);
    ++(failed == 1 ? in_the_step : in_the_comparison);
  }
  EXPECT_GT(in_the_step, 0);
  EXPECT_GT(in_the_comparison, 0);
}

// Errors that must be detected: gradients that are not summed over replicas, and sequences that are
// computed twice.
TEST(StrategyReport, AnotherDealOfSequencesIsFound) {
  const StrategyTask planned = task_of(kMixtures[5], false);
  StrategyTask task = planned;
  task.rows[1][0] = task.rows[0][0];
  const StrategyReport report = judge_step(planned, run_on_threads(task), {});
  EXPECT_FALSE(report.passed());
  EXPECT_TRUE(report.weight_gradient.failed());
}

TEST(StrategyStep, ARankThatThrowsLetsTheOthersLeave) {
  const StrategyTask task = task_of(kMixtures[12], false);
  for (int thrower = 0; thrower < task.ranks(); ++thrower) {
    const auto error = run_ranks(task.ranks(), [&](Communicator& world) {
      StrategyTask mine = task;
      if (world.rank() == thrower) {  // a backward pass without a forward pass
        auto& passes = mine.order[place_of(task, thrower).stage];
        passes[passes.size() / 2] = {.forward = false, .chunk = 5, .micro_batch = 0};
      }
      run_strategy_rank(world, mine, nullptr);
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->rank, thrower);
    EXPECT_THAT(error->message, HasSubstr("before its forward pass"));
  }
}

TEST(StrategyTask, WhatCannotBeExecutedIsSaid) {
  const auto complaint = [](auto damage) {
    StrategyTask task = task_of(kMixtures[9], false);
    damage(task);
    const std::vector<std::string> problems = check(task);
    return problems.empty() ? "" : problems.front();
  };
  EXPECT_EQ(complaint([](StrategyTask&) {}), "");
  EXPECT_THAT(complaint([](StrategyTask& task) { task.block.hidden = 0; }), HasSubstr("hidden"));
  EXPECT_THAT(complaint([](StrategyTask& task) { task.block.ffn = 49; }), HasSubstr("ffn"));
  EXPECT_THAT(complaint([](StrategyTask& task) { task.tp = 3; }), HasSubstr("divide heads"));
  EXPECT_THAT(complaint([](StrategyTask& task) { task.vocabulary = 3; }), HasSubstr("vocabulary"));
  EXPECT_THAT(complaint([](StrategyTask& task) {
                task.block.heads = task.block.kv_heads = 6;
                task.tp = 4;
              }),
              HasSubstr("heads"));
  EXPECT_THAT(complaint([](StrategyTask& task) { task.cp = 8; }), HasSubstr("tp cp"));
  EXPECT_THAT(complaint([](StrategyTask& task) { task.dp = 0; }), HasSubstr("out of range"));
  EXPECT_THAT(complaint([](StrategyTask& task) { task.dp = 999; }), HasSubstr("ranks"));
  EXPECT_THAT(complaint([](StrategyTask& task) { task.dp = 2; }), HasSubstr("each replica"));
  EXPECT_THAT(complaint([](StrategyTask& task) { task.v = 2; }), HasSubstr("chunks"));
  EXPECT_THAT(complaint([](StrategyTask& task) { task.layers.pop_back(); }), HasSubstr("stage"));
  EXPECT_THAT(complaint([](StrategyTask& task) { task.rows.resize(1 << 20); }),
              HasSubstr("passes"));
  EXPECT_THAT(complaint([](StrategyTask& task) { task.lengths[0] = 0; }), HasSubstr("length"));
  EXPECT_THAT(complaint([](StrategyTask& task) { task.rows[0][0][0] = 99; }),
              HasSubstr("does not have"));
  EXPECT_THAT(complaint([](StrategyTask& task) { task.rows[0][0][0] = 1; }),
              HasSubstr("sequence 0 is in 0 rows"));
}

}  // namespace
}  // namespace stowage::kernels::strategy_strategy_step_test
