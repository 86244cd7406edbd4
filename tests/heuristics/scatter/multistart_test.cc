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
