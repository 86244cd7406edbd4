// From a model to plans of steps: coefficients equal the formulas of a strategy, plans are valid, a
// layout fits, and the ranking is that of true lengths.
#include "solvers/configure/configure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <string>

#include "heuristics/strategy/configurations.h"
#include "instances/check.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/table/group_form.h"
#include "instances/strategy/generate/generate.h"
#include "instances/strategy/json/json.h"
#include "instances/verify.h"
#include "solvers/configure/rank_layout.h"
#include "solvers/solve.h"
#include "tests/tiny_strategy.h"

namespace stowage::configure_configure_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Steps = std::vector<std::vector<Tokens>>;

// Returns steps of a few thousand tokens per sequence, with one long sequence each.
Steps some_steps(std::size_t count) {
  Steps steps(count, std::vector<Tokens>(16));
  Tokens state = 1;
  for (std::vector<Tokens>& step : steps) {
    for (Tokens& length : step) {
      state = state * 48271 % 2147483647;
      length = 512 + state % 15'000;
    }
  }
  steps.front().front() = 60'000;
  return steps;
}

StrategyInstance one_node(const Steps& steps, std::int64_t memory_mib = 73'728,
                          std::int64_t formulas = 2) {
  return *generate_strategy(
      {.model = "llama-7b", .nodes = 1, .formulas = formulas, .memory_mib = memory_mib},
      mean_step(steps));
}

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

// For every bundled instance with a configuration, the layout of the heaviest rank, its states and
// its waiting activations fit, with a raised factor if necessary.
TEST(Configure, BundledInstancesHoldWhatTheyPromise) {
  const auto data = std::filesystem::path(STOWAGE_SOURCE_DIR) / "instances/data/strategy";
  int held = 0;
  for (const char* folder : {"tiny", "real"}) {
    for (const auto& entry : std::filesystem::directory_iterator(data / folder)) {
      std::ifstream file(entry.path());
      const std::string text(std::istreambuf_iterator<char>(file), {});
      const Result<StrategyInstance> instance =
          read_strategy_instance(text, entry.path().parent_path().string());
      ASSERT_TRUE(instance) << entry.path();
      Budget budget;
      const ConfiguredRun run =
          configure(*instance, {instance->lengths}, {.candidates = 4}, budget);
      if (!run.strategy.plan) continue;
      ASSERT_FALSE(run.ranking.empty()) << entry.path();
      if (!run.ranking.front().why_not.empty()) {
        EXPECT_FALSE(run.heaviest) << entry.path();
        continue;
      }
      ASSERT_TRUE(run.heaviest) << entry.path();
      EXPECT_TRUE(run.heaviest->fits()) << entry.path();
      EXPECT_THAT(verify(Instance(run.heaviest->instance), *run.heaviest->outcome.plan), IsEmpty());
      ++held;
    }
  }
  EXPECT_EQ(held, 7);
}

TEST(Configure, RanksByTrueLengthsAndHoldsWhatItPromises) {
  const Steps steps = some_steps(3);
  const StrategyInstance instance = one_node(steps);
  Budget budget;
  const ConfiguredRun run = configure(instance, steps, {.candidates = 6}, budget);
  ASSERT_GT(run.ranking.size(), run.without_plan + 1);
  const RankedConfiguration& first = run.ranking.front();
  ASSERT_EQ(first.steps.size(), steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const ConfiguredStep& step = first.steps[i];
    EXPECT_EQ(step.instance.lengths, steps[i]);
    EXPECT_THAT(verify(Instance(step.instance), *step.outcome.plan), IsEmpty());
    EXPECT_LE(step.price.memory_share, 1);
  }
  Ms last = 1;
  for (std::size_t i = 0; i < run.ranking.size() - run.without_plan; ++i) {
    const RankedConfiguration& each = run.ranking[i];
    EXPECT_THAT(verify(Instance(instance), Plan(each.plan)), IsEmpty());
    EXPECT_GE(each.behind, 1);
    if (i < 2) {
      EXPECT_GE(each.behind, last);
    }
    last = each.behind;
    EXPECT_GE(each.plan.step_ms, run.strategy.bound * (1 - 1e-9));
  }
  ASSERT_TRUE(run.heaviest);
  EXPECT_TRUE(run.heaviest->fits());
  EXPECT_THAT(verify(Instance(run.heaviest->instance), *run.heaviest->outcome.plan), IsEmpty());

  Budget again;
  const ConfiguredRun same = configure(instance, steps, {.candidates = 6}, again);
  ASSERT_EQ(same.ranking.size(), run.ranking.size());
  for (std::size_t i = 0; i < run.ranking.size(); ++i) {
    EXPECT_EQ(same.ranking[i].plan, run.ranking[i].plan);
    EXPECT_EQ(same.ranking[i].mean.step_ms, run.ranking[i].mean.step_ms);
  }
}

// The number of threads does not change a plan, nor which step is named if none has room.
TEST(Configure, ThreadsChangeNothing) {
  for (const Tokens longest : {60'000, 3'000'000}) {
    Steps steps = some_steps(6);
    const StrategyInstance instance = one_node(steps);
    steps[2].front() = longest;
    steps[4].front() = longest;
    const auto planned = [&](int threads) {
      Budget budget;
      return configure(instance, steps, {.candidates = 6, .threads = threads}, budget);
    };
    const ConfiguredRun one = planned(1);
    for (const int threads : {2, 5}) {
      const ConfiguredRun more = planned(threads);
      EXPECT_EQ(more.without_plan, one.without_plan);
      ASSERT_EQ(more.ranking.size(), one.ranking.size());
      for (std::size_t i = 0; i < one.ranking.size(); ++i) {
        const RankedConfiguration& a = one.ranking[i];
        const RankedConfiguration& b = more.ranking[i];
        EXPECT_EQ(a.plan, b.plan);
        EXPECT_EQ(a.why_not, b.why_not);
        ASSERT_EQ(a.steps.size(), b.steps.size());
        for (std::size_t k = 0; k < a.steps.size(); ++k) {
          EXPECT_EQ(a.steps[k].instance.name, b.steps[k].instance.name);
          EXPECT_EQ(*a.steps[k].outcome.plan, *b.steps[k].outcome.plan);
        }
      }
    }
  }
}

// For all memory sizes the layout of the first configuration fits, and a raised factor was
// necessary.
TEST(Configure, WhatIsClearlyBehindIsPlannedNoFurther) {
  const Steps steps = some_steps(12);
  const StrategyInstance instance = one_node(steps);
  Budget budget;
  const ConfiguredRun run = configure(instance, steps, {}, budget);
  ASSERT_GT(run.ranking.size(), 2U);
  std::map<std::string, Ms> of_first;
  for (const ConfiguredStep& step : run.ranking.front().steps) {
    of_first[step.instance.name] = step.price.step_ms;
  }
  ASSERT_EQ(of_first.size(), steps.size());
  std::size_t few = 0;
  for (std::size_t r = 1; r < run.ranking.size() - run.without_plan; ++r) {
    const RankedConfiguration& ranked = run.ranking[r];
    few += ranked.steps.size() == 4;
    if (ranked.steps.size() <= 4) continue;
    bool slower = true;
    Ms sum = 0;
    Ms sum_of_first = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const Ms first = of_first.at(ranked.steps[k].instance.name);
      slower = slower && ranked.steps[k].price.step_ms > first;
      sum += ranked.steps[k].price.step_ms;
      sum_of_first += first;
    }
    EXPECT_FALSE(slower && sum >= 1.005 * sum_of_first) << configuration_name(ranked.plan);
  }
  EXPECT_GT(few, 1U);
}

TEST(Configure, ALayoutThatDoesNotFitIsSolvedAgain) {
  bool again = false;
  // So many short sequences that rows are filled to the last token.
  Steps steps = {std::vector<Tokens>(128)};
  for (std::size_t i = 0; i < steps.front().size(); ++i) {
    steps.front()[i] = 300 + static_cast<Tokens>(i * 37 % 101) * 29;
  }
  for (const std::int64_t memory_mib : {24'000, 32'000, 40'000, 56'000, 73'728}) {
    StrategyInstance instance = one_node(steps, memory_mib);
    instance.options.recompute = {StrategyRecompute::none};
    instance.options.logit_chunks = {16};
    Budget budget;
    const ConfiguredRun run = configure(instance, steps, {.candidates = 4}, budget);
    if (run.ranking.size() == run.without_plan) continue;
    ASSERT_TRUE(run.heaviest);
    EXPECT_TRUE(run.heaviest->fits()) << memory_mib;
    EXPECT_GE(run.ranking.front().activation_factor, 1);
    again = again || run.ranking.front().activation_factor > 1;
  }
  EXPECT_TRUE(again);
}

// One sequence fills the memory of the configuration with most room, which is rejected once its
// layout is known. The first of the configurations that were rejected for it before have no plan.
TEST(Configure, OthersAreAskedUntilOneHasAPlan) {
  Steps steps(4, std::vector<Tokens>(8, 2048));
  StrategyInstance instance = one_node(steps, 53'540, 1);  // the room that its formulas leave
  instance.options.logit_chunks = {16};
  instance.options.pp = {1};
  steps.front().front() = 98'427;
  Budget budget({.time_limit_s = 0});
  const ConfiguredRun run = configure(instance, steps, {.candidates = 12}, budget);
  EXPECT_EQ(run.ranking.size(), 12U);
  ASSERT_LT(run.without_plan, 12U);
  EXPECT_EQ(run.ranking.front().steps.size(), steps.size());
  EXPECT_TRUE(run.heaviest && run.heaviest->fits());
  EXPECT_TRUE(std::ranges::any_of(
      run.ranking, [](const RankedConfiguration& each) { return each.activation_factor > 1; }));
  EXPECT_EQ(run.ended_by(), StoppedBy::time_limit);
}

// A long sequence fits in less memory if layers process it in parts, and the layout takes this into
// account.
TEST(Configure, StreamChunksMakeRoomForALongSequence) {
  const Steps steps = {{150'000, 2000, 2000, 2000, 2000, 2000, 2000, 2000}};
  const auto least_memory = [&](const std::vector<std::int64_t>& chunks) {
    for (std::int64_t memory_mib = 36'000; memory_mib < 73'000; memory_mib += 1000) {
      StrategyInstance instance = one_node(steps, memory_mib);
      instance.options.logit_chunks = {64};
      instance.options.pp = {1};
      instance.options.cp = {1};
      instance.options.tp = {2};
      instance.options.stream_chunks = chunks;
      Budget budget;
      const ConfiguredRun run = configure(instance, steps, {.candidates = 2}, budget);
      if (run.without_plan == run.ranking.size()) continue;
      EXPECT_TRUE(run.heaviest && run.heaviest->fits()) << memory_mib;
      const StrategyPlan& plan = run.ranking.front().plan;
      EXPECT_EQ(plan.stages.front().stream_chunks > 1, chunks.size() > 1);
      EXPECT_EQ(configuration_name(plan).find(" chunks") != std::string::npos, chunks.size() > 1);
      return memory_mib;
    }
    return std::int64_t{73'000};
  };
  EXPECT_LT(least_memory({1, 4, 16}) + 4000, least_memory({1}));
}

TEST(Configure, WithoutRoomItSaysWhy) {
  const Steps steps = some_steps(1);
  Budget budget;
  const ConfiguredRun run = configure(one_node(steps, 1000), steps, {}, budget);
  EXPECT_EQ(run.strategy.status, Status::infeasible);
  EXPECT_THAT(run.ranking, IsEmpty());
}

// The mean step fits, and a true step does not.
TEST(Configure, AStepWithoutAPlanPutsAConfigurationLast) {
  Steps steps = some_steps(1);
  const StrategyInstance instance = one_node(steps);
  steps.front().front() = 3'000'000;
  Budget budget;
  const ConfiguredRun run = configure(instance, steps, {.candidates = 3}, budget);
  EXPECT_EQ(run.without_plan, run.ranking.size());
  for (const RankedConfiguration& each : run.ranking) {
    EXPECT_THAT(each.why_not, HasSubstr("3 000 000 tokens fits no group"));
  }
}

}  // namespace
}  // namespace stowage::configure_configure_test
