// What ranks a configuration: the mean step, the handover of stages, and the layout of a rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "heuristics/strategy/configurations.h"
#include "instances/check.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/table/group_form.h"
#include "solvers/configure/configure.h"
#include "solvers/configure/rank_layout.h"
#include "solvers/solve.h"
#include "tests/solvers/configure/some_steps.h"
#include "tests/tiny_strategy.h"

namespace stowage::configure_configure_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MeanStep, TakesEachSomaniethFromTheLongestOn) {
  EXPECT_THAT(mean_step({{1, 9, 5}, {8, 2, 4}}), ElementsAre(9, 5, 2));
  EXPECT_THAT(mean_step({{3, 7}}), ElementsAre(7, 3));
}

// For every degree, the time and memory of a group in the scatter instance equal the time and
// memory of the stage by the formulas.
TEST(Handover, CoefficientsAreTheFormulas) {
  int tried = 0;
  int shared_experts = 0;
  int rings = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    StrategyInstance instance =
        with_partial_sharing(seed % 3 > 0 ? tiny_strategy(seed) : tiny_experts(seed), seed);
    instance.model.flash_attention = true;
    const StrategyTable table(instance);
    for (const StrategyPlan& plan : fastest_homogeneous(table, 4, Budget())) {
      const Handover handover(table, plan);
      const ScatterInstance step = handover.step("step", instance.lengths);
      ASSERT_THAT(check(Instance(step)), IsEmpty()) << seed;
      EXPECT_EQ(step.pipeline_stages, 1 + (plan.pp - 1 + plan.v - 1) / plan.v);
      if (plan.pp > 1 || plan.stages.front().zero == 3) continue;
      const StrategyStage& stage = plan.stages.front();
      for (const int degree : step.cluster.degrees) {
        const StageCosts costs(
            table, {.pp = 1, .v = 1, .micro_batches = 4},
            {.tp = plan.tp,
             .cp = degree,
             .dp = plan.dp * plan.cp / degree,
             .ep = plan.ep,
             .shard = plan.shard,
             .cp_exchange = degree > 1 ? plan.cp_exchange : StrategyExchange::all_to_all});
        const Tokens length = step.pad_multiple * 3;
        const double share = degree * static_cast<double>(plan.tp);
        const auto tokens = static_cast<double>(length);
        const StageCost its = costs.with_row(0, 0, stage.layers, choice_of(stage),
                                             {tokens / share, tokens * tokens / share});
        // A step's ring hides what all passes send under the attention of all of them.
        const bool ring = costs.layout().cp_exchange == StrategyExchange::ring;
        const GroupForm form{degree, ring ? ExchangeKind::ring : ExchangeKind::none};
        const Ms by_step =
            group_ms(step, form, empty_load(step, form) + sequence_load(step, length, form));
        EXPECT_LE(by_step, its.time_ms * (1 + 1e-9)) << seed << " degree " << degree;
        if (!ring) {
          EXPECT_GE(by_step, its.time_ms * (1 - 1e-9)) << seed << " degree " << degree;
        }
        const Mib more_logits =
            costs.logits_mib(plan.logit_chunks, {.tokens = tokens / share}) -
            costs.logits_mib(table.logit_chunks().back(), {.tokens = tokens / share});
        const Mib held = fixed_mib(step) + tokens / degree * token_mib(step, form);
        EXPECT_NEAR(held, its.memory_mib + more_logits, 1e-7 * held) << seed;
        ++tried;
        shared_experts += plan.ep > 1 ? 1 : 0;
        rings += ring ? 1 : 0;
      }
    }
  }
  EXPECT_GE(tried, 100);
  EXPECT_GE(shared_experts, 10);
  EXPECT_GE(rings, 10);
}

// A plan's objective is its price minus the exchange of states, if there are no chunks, no level 3
// and only equal stages.
TEST(Handover, APriceIsTheObjectiveAndWhatIsExposed) {
  const Steps steps = some_steps(1);
  StrategyInstance instance = one_node(steps);
  instance.options.zero = {1};
  instance.options.v = {1};
  instance.model.vocabulary = 0;  // all stages are equal
  const StrategyTable table(instance);
  bool pipelines = false;
  for (const StrategyPlan& plan : fastest_homogeneous(table, 20, Budget())) {
    const Handover handover(table, plan);
    const ScatterInstance step = handover.step("step", steps.front());
    Budget budget;
    const Outcome outcome = solve(Instance(step), {.method = "fast"}, budget);
    if (!outcome.plan) continue;
    pipelines = pipelines || plan.pp > 1;
    const auto& planned = std::get<ScatterPlan>(*outcome.plan);
    const PricedStep price = handover.price(step, planned);
    Ms sum = 0;
    for (const ScatterMicroBatch& batch : planned.micro_batches) sum += batch.makespan_ms;
    Ms exposed = 0;
    for (const StrategyStage& stage : plan.stages) {
      const Ms computing = sum / static_cast<double>(planned.micro_batches.size());
      const Ms left =
          std::max(0.0, stage.exchange_ms - instance.cost.overlap_of_step() * computing);
      exposed = std::max(exposed, left + stage.update_ms);
    }
    EXPECT_NEAR(price.step_ms, planned.objective_ms + exposed, 1e-9 * price.step_ms);
    EXPECT_NEAR(price.bubble_ms, planned.objective_ms - sum, 1e-9 * price.step_ms);
    EXPECT_GE(price.exchange_ms, exposed);
    EXPECT_GT(price.memory_share, 0);
    EXPECT_LE(price.memory_share, 1);
  }
  EXPECT_TRUE(pipelines);
}

TEST(Handover, ARaisedFactorLeavesLessRoom) {
  const Steps steps = some_steps(1);
  const StrategyInstance instance = one_node(steps);
  const StrategyTable table(instance);
  const StrategyPlan plan = fastest_homogeneous(table, 1, Budget()).front();
  const ScatterInstance plain = Handover(table, plan).step("step", steps.front());
  const ScatterInstance raised = Handover(table, plan, 2).step("step", steps.front());
  EXPECT_NEAR(static_cast<double>(tokens_per_device(plain)),
              2.0 * static_cast<double>(tokens_per_device(raised)), 2);
}

// The layout is the trace of one micro-batch, and one more set of activations for each other
// micro-batch in flight.
TEST(RankLayout, CountsWhatOtherMicroBatchesKeep) {
  const Steps steps = {std::vector<Tokens>(16, 2048)};
  StrategyInstance instance = one_node(steps);
  instance.options.pp = {2};
  instance.options.v = {1};
  instance.options.recompute = {StrategyRecompute::none};
  const StrategyTable table(instance);
  const std::vector<StrategyPlan> plans = fastest_homogeneous(table, 1, Budget());
  ASSERT_FALSE(plans.empty());
  const Handover handover(table, plans.front());
  const Result<RankLayout> layout = rank_layout(instance, handover, 2048);
  ASSERT_TRUE(layout);
  if (handover.tightest_stage() == 0) {
    EXPECT_EQ(handover.in_flight(), 2);
    // About M3 of 16 layers: a trace has a few more tensors.
    const double formula = 34.0 * 16 * 4096 * 2048 / static_cast<double>(plans.front().tp);
    EXPECT_NEAR(static_cast<double>(layout->waiting_bytes), formula, 0.15 * formula);
  } else {
    EXPECT_EQ(layout->waiting_bytes, 0);
  }
}

// Layers that differ, with experts and without, for activations of width h. A token keeps x, its
// norm, q, k, v, the output of attention, r and its norm, 16 h bytes, and 4 bytes for each head's
// logarithm. A feed-forward part keeps 6 bytes per unit of width, 4 without a gate. With experts it
// also keeps 4 bytes for each score and 2 h for each copy. M3 counts 18 h instead of 16 h with
// experts, and neither logarithms nor scores.
TEST(RankLayout, OfLayersWithExpertsByHand) {
  int shared = 0;
  int mixed = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    StrategyInstance instance = tiny_experts(seed);
    instance.model.flash_attention = true;
    instance.model.sequence_parallel = true;
    instance.model.kv_width.reset();
    instance.model.query_width.reset();
    instance.cost.detail.reset();  // the numbers below are those of M3 in version 1
    instance.model.heads = 8;
    instance.cluster.memory_mib = 1e6;
    instance.options.v = {1};
    instance.options.recompute = {StrategyRecompute::none};
    if (!check(Instance(instance)).empty()) continue;
    const StrategyModel& model = instance.model;
    const auto h = static_cast<double>(model.hidden);
    const StrategyTable table(instance);
    for (const StrategyPlan& plan : fastest_homogeneous(table, 8, Budget())) {
      const Handover handover(table, plan);
      const Result<RankLayout> layout = rank_layout(instance, handover, 1024);
      if (!layout || handover.in_flight() <= 1) continue;
      const std::int64_t its = handover.tightest_stage();
      std::int64_t begin = 0;  // first layer of this stage
      for (std::int64_t stage = 0; stage < its; ++stage) begin += plan.stages[at(stage)].layers;
      const std::int64_t end = begin + plan.stages[at(its)].layers;
      double bytes = 0;   // bytes per token
      double beside = 0;  // difference of M3 to these bytes
      bool routed = true;
      const double outside = plan.tp > 1 ? 16 : 18;
      std::int64_t layer = 0;
      for (const StrategyBlock& block : model.blocks) {
        const double experts = block.routed() ? static_cast<double>(block.experts->count) : 0;
        const double copies = block.routed() ? static_cast<double>(block.experts->top_k) : 0;
        const double width =
            static_cast<double>(block.dense_ffn()) +
            (block.routed() ? copies * static_cast<double>(block.experts->ffn) : 0);
        const double exact = 4 * static_cast<double>(model.heads) + 4 * experts;
        for (std::int64_t k = 0; k < block.count; ++k, ++layer) {
          if (layer < begin || layer >= end) continue;
          bytes += (outside + 2 * copies) * h + (block.gated ? 6 : 4) * width + exact;
          beside += (18 - outside) * h - exact;
          routed = routed && block.routed();
        }
      }
      const double tokens = 1024 / static_cast<double>(plan.tp);
      const double traced = static_cast<double>(layout->waiting_bytes) / (handover.in_flight() - 1);
      EXPECT_NEAR(traced, bytes * tokens, 1) << seed;
      shared += plan.ep > 1 ? 1 : 0;
      mixed += table.equal_layers() ? 0 : 1;
      if (!routed) continue;
      const StageCosts costs(table, {plan.pp, plan.v, plan.micro_batches},
                             {plan.tp, plan.cp, plan.dp, plan.ep});
      const StageChoice choice = choice_of(plan.stages[0]);
      const auto mib = [&](double row) {
        return costs.with_row(its, begin, end - begin, choice, {row, 0}).memory_mib -
               (its == plan.pp - 1 ? costs.logits_mib(table.logit_chunks().back(), {row, 0}) : 0);
      };
      const double counted =
          (mib(2 * tokens) - mib(tokens)) / costs.in_flight(its, end - begin) * (1 << 20);
      EXPECT_NEAR(counted, (bytes + beside) * tokens, 1e-6 * counted) << seed;
    }
  }
  EXPECT_GT(shared, 3);
  EXPECT_GT(mixed, 3);
}

}  // namespace
}  // namespace stowage::configure_configure_test
