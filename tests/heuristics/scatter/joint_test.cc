#include "heuristics/scatter/joint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/tiny_scatter.h"

namespace stowage {
namespace {

std::vector<int> everyone(const StepDraft& step) {
  std::vector<int> all;
  for (const MicroBatchDraft& batch : step) {
    const std::vector<int> some = positions_of(batch);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::ranges::sort(all);
  return all;
}

// Every sequence in a micro-batch of its own: valid, and as bad as it gets.
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
  const StepDraft step = *group_chunks(table, {{0, 1, 2}}, {}, Budget());
  EXPECT_EQ(step.size(), 3U);  // {20, 10} and {10}, then {20} and {10}: dissolve() is for later
  EXPECT_EQ(everyone(step), (std::vector<int>{0, 1, 2}));
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
}  // namespace stowage
