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
#include <string>

#include "heuristics/strategy/configurations.h"
#include "instances/strategy/json/json.h"
#include "instances/verify.h"
#include "solvers/solve.h"
#include "tests/solvers/configure/some_steps.h"
#include "tests/tiny_strategy.h"

namespace stowage::configure_configure_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
