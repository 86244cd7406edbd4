#include "heuristics/scatter/construct/multistart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "heuristics/scatter/construct/starts/chunk_starts.h"
#include "instances/numeric/random.h"
#include "instances/scatter/presets.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_joint_test {
namespace {

std::vector<int> everyone(const WorkingStep& step) {
  std::vector<int> all;
  for (const WorkingMicroBatch& batch : step) {
    const std::vector<int> some = positions_of(batch);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::ranges::sort(all);
  return all;
}

// Every sequence is in a micro-batch of its own: a valid and bad plan.
Chunks apart(const ScatterTable& table) {
  Chunks chunks;
  for (int position = 0; position < table.size(); ++position) chunks.push_back({position});
  return chunks;
}

TEST(ScatterJoint, GroupingStopsWithItsBudget) {
  const ScatterTable table(tiny_scatter(4, 12));
  EXPECT_FALSE(group_chunks(table, apart(table), {}, Budget({.time_limit_s = 0})));
}

TEST(ScatterJoint, AChunkThatCannotBeGroupedIsHalved) {
  const ScatterInstance instance{.cluster = {.devices = 2, .memory_mib = 10, .degrees = {1, 2}},
                                 .model = {.activation_mib_per_token = 1},
                                 .cost = {.linear_ms = 1},
                                 .lengths = {20, 10, 10}};
  const ScatterTable table(instance);
  const WorkingStep step = *group_chunks(table, {{0, 1, 2}}, {}, Budget());
  EXPECT_EQ(step.size(), 3U);  // {20, 10} and {10}, then {20} and {10}: dissolve() comes later
  EXPECT_EQ(everyone(step), (std::vector<int>{0, 1, 2}));
}

// A dozen sequences that need 8 of 32 devices each, and short ones: the step depends on which long
// ones share a group, and moves of single sequences do not change that. All seeds must find the
// same result.
TEST(ScatterJoint, SeedsAgreeWhereFewLongSequencesDecide) {
  for (std::uint64_t step = 0; step < 10; ++step) {
    std::mt19937_64 random(step);
    ScatterInstance instance = *scatter_preset({.model = "gpt-7b", .devices = 32});
    const auto add = [&](std::uint64_t count, Tokens least, std::uint64_t range) {
      for (std::uint64_t i = 0; i < count; ++i) {
        instance.lengths.push_back(least + static_cast<Tokens>(draw(random, range)));
      }
    };
    add(13 + step % 2, 24200, 20000);
    add(40, 100, 2000);
    const ScatterTable table(instance);
    Ms best = kInfinity;
    Ms worst = 0;
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const Ms time = step_ms(table, *joint(table, {.moves = 1260}, seed, Budget()));
      best = std::min(best, time);
      worst = std::max(worst, time);
    }
    EXPECT_LE(worst, 1.01 * best) << step;
  }
}

// Steps whose groups may have any degree up to `largest`.
ScatterInstance of_any_degree(std::uint64_t seed, int largest = 24) {
  ScatterInstance instance = *scatter_preset({.model = "llama3-8b",
                                              .devices = 24,
                                              .limit_tokens = 48000,
                                              .degrees = DegreeSet::any,
                                              .largest_degree = largest,
                                              .machine = "h100"});
  std::mt19937_64 random(seed);
  for (int i = 0; i < 60; ++i) {
    const auto tokens = static_cast<Tokens>(200 << draw(random, 8));
    instance.lengths.push_back(std::min<Tokens>(48000, tokens + 7 * i));
  }
  return instance;
}

TEST(ScatterJoint, AllDegreesAreNeverBehindFew) {
  int better = 0;
  for (const int largest : {24, 9}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const ScatterTable table(of_any_degree(seed, largest));
      ASSERT_EQ(table.has_many_degrees(), largest == 24);
      const ScatterTable few = table.with_configs(table.few_degrees());
      ASSERT_LT(few.configs().size(), table.configs().size());
      const Ms of_few = step_ms(few, *joint(few, {.moves = 200}, seed, Budget()));
      const Ms of_all = step_ms(table, *joint(table, {.moves = 200}, seed, Budget()));
      EXPECT_LE(of_all, of_few * (1 + 1e-12)) << seed;
      if (of_all < of_few * (1 - 1e-6)) ++better;
    }
  }
  EXPECT_GE(better, 5);
}

TEST(ScatterTable, FewDegreesAreOfEveryOctaveAndTheLargest) {
  const ScatterTable table(of_any_degree(1));
  const ScatterTable few = table.with_configs(table.few_degrees());
  std::vector<int> degrees;
  for (const GroupConfig& config : few.configs()) degrees.push_back(config.degree);
  EXPECT_EQ(degrees, (std::vector<int>{1, 2, 4, 8, 16, 24}));
  for (int position = 0; position < table.size(); ++position) {
    EXPECT_EQ(few.id(position), table.id(position));
    for (int config = 0; config < static_cast<int>(few.configs().size()); ++config) {
      const int own = table.config_of(few.configs()[static_cast<std::size_t>(config)].form());
      EXPECT_EQ(few.cost(position, config), table.cost(position, own));
      EXPECT_EQ(few.holds(config, position), table.holds(own, position));
    }
  }
  EXPECT_GE(few.total_area(), table.total_area());
  const ScatterTable powers(*scatter_preset({.model = "gpt-7b", .devices = 64}));
  EXPECT_FALSE(powers.has_many_degrees());
  EXPECT_EQ(powers.few_degrees().size(), powers.configs().size());
}

TEST(ScatterDraft, PlansAndDraftsConvertBothWays) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed, 12);
    if (!unplaceable_sequences(instance).empty()) continue;
    const ScatterTable table(instance);
    const ScatterPlan plan =
        to_plan(instance, table, *group_chunks(table, apart(table), {}, Budget()));
    EXPECT_EQ(to_plan(instance, table, to_draft(instance, table, plan)), plan) << seed;
  }
}

}  // namespace
}  // namespace stowage::scatter_joint_test
