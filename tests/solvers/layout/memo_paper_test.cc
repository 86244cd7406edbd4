#include "solvers/layout/published/memo_paper.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "instances/layout/generate/transformer_trace.h"
#include "instances/layout/load.h"
#include "instances/layout/plan_builder.h"
#include "instances/layout/planning_table.h"
#include "instances/layout/verify/verify.h"
#include "instances/violation.h"
#include "solvers/layout/exact/search.h"

namespace stowage::layout_memo_test {
namespace {

constexpr std::int64_t kNodes = 2'000'000;

// Runs the exact search, which must end with a proof.
std::optional<LayoutPlan> by_search(const LayoutInstance& instance, Budget& budget) {
  const LayoutTable table(instance);
  const LayoutMinimum found =
      minimise_layout(table, {.bound = table.max_load(), .capacity = instance.capacity}, budget);
  if (found.end != LayoutEnd::layout || !found.offsets) return std::nullopt;
  return compose_layout(instance, *found.offsets);
}

void expect_valid(const LayoutInstance& instance, const LayoutPlan& plan) {
  for (const Violation& violation : verify(instance, plan)) ADD_FAILURE() << to_string(violation);
}

std::optional<MemoPlan> memo_of(const LayoutInstance& trace) {
  Budget budget({.node_limit = kNodes});
  auto memo = plan_memo(trace, by_search, budget);
  if (!memo) return memo;
  EXPECT_EQ(memo->block_peaks.size(), 2U);
  EXPECT_EQ(memo->plan.peak_bytes, memo->outer_peak);
  expect_valid(trace, memo->plan);
  return memo;
}

// The two levels lose nothing on these traces: the plan meets the load of the flat instance.
TEST(LayoutMemo, LosesNothingWhereTheLogitsMakeThePeak) {
  for (const char* model : {"llama-7b", "llama-13b", "llama-65b", "gpt-7b"}) {
    for (const SequenceSplit split : {SequenceSplit::megatron, SequenceSplit::ulysses}) {
      for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
        const auto trace = trace_layout({.model = model,
                                         .tokens = 131072,
                                         .kv_heads = 8,
                                         .layers = 8,
                                         .recompute = recompute,
                                         .split = split});
        ASSERT_TRUE(trace);
        SCOPED_TRACE(trace->name);
        const auto memo = memo_of(*trace);
        ASSERT_TRUE(memo);
        EXPECT_EQ(memo->plan.peak_bytes, peak_load(*trace).load);
      }
    }
  }
}

// With the logits in pieces the peak moves into the last layer's backward pass. The tensors that
// wait for that pass are freed during it, so the load falls while the pseudo buffer keeps its size.
TEST(LayoutMemo, LosesLittleWhereALayerMakesThePeak) {
  for (const char* model : {"llama-7b", "llama-65b"}) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      const auto trace = trace_layout(
          {.model = model, .tokens = 131072, .recompute = recompute, .logit_chunks = 8});
      ASSERT_TRUE(trace);
      SCOPED_TRACE(trace->name);
      const auto memo = memo_of(*trace);
      ASSERT_TRUE(memo);
      const double ratio =
          static_cast<double>(memo->plan.peak_bytes) / static_cast<double>(peak_load(*trace).load);
      EXPECT_LT(ratio, recompute == Recompute::full ? 1 + 1e-12 : 1.01);
    }
  }
}

// Two layers of two buffers each, worked out by hand.
TEST(LayoutMemo, StacksEachBlockOnce) {
  const LayoutInstance instance{.name = "two",
                                .alignment = 2,
                                .buffers = {{.lower = 1, .upper = 3, .size = 16},
                                            {.lower = 2, .upper = 5, .size = 8, .alignment = 4},
                                            {.lower = 6, .upper = 8, .size = 16},
                                            {.lower = 7, .upper = 10, .size = 8, .alignment = 4},
                                            {.lower = 0, .upper = 7, .size = 10}},
                                .layers = {{.name = "pass", .occurrences = {{0, 1}, {2, 3}}}}};
  int asked = 0;
  const LayoutPlanner counting = [&](const LayoutInstance& part, Budget& budget) {
    ++asked;
    EXPECT_EQ(part.buffers.size(), asked == 1 ? 2U : 3U);
    EXPECT_TRUE(part.layers.empty());
    return by_search(part, budget);
  };
  Budget budget;
  const auto memo = plan_memo(instance, counting, budget);
  ASSERT_TRUE(memo);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(memo->block_peaks, std::vector<Bytes>{24});
  EXPECT_EQ(memo->plan.peak_bytes, 34);
  expect_valid(instance, memo->plan);
}

TEST(LayoutMemo, WithoutLayersItIsThePlannersPlan) {
  const LayoutInstance instance{.buffers = {{.upper = 3, .size = 5}, {.upper = 2, .size = 7}}};
  Budget budget;
  const auto memo = plan_memo(instance, by_search, budget);
  ASSERT_TRUE(memo);
  EXPECT_EQ(memo->plan.offsets, by_search(instance, budget)->offsets);
  EXPECT_TRUE(memo->block_peaks.empty());
}

// If the pass of a layer has free ranges, a pseudo buffer cannot use them: the cost of two levels.
TEST(LayoutMemo, MayLoseWhereAnotherBufferWouldFitTheHoles) {
  const LayoutInstance instance{.buffers = {{.lower = 0, .upper = 1, .size = 10},
                                            {.lower = 1, .upper = 2, .size = 2},
                                            {.lower = 1, .upper = 2, .size = 8}},
                                .layers = {{.occurrences = {{0, 1}}}}};
  Budget budget;
  EXPECT_EQ(plan_memo(instance, by_search, budget)->plan.peak_bytes, 18);
  EXPECT_EQ(by_search(instance, budget)->peak_bytes, 10);
}

TEST(LayoutMemo, GivesNothingWhereThePlannerGivesNothing) {
  const auto trace = trace_layout({.layers = 2});
  ASSERT_TRUE(trace);
  Budget budget;
  int asked = 0;
  const LayoutPlanner lazy = [&](const LayoutInstance& part, Budget& left) {
    return ++asked == 2 ? std::nullopt : by_search(part, left);
  };
  EXPECT_FALSE(plan_memo(*trace, lazy, budget));
  EXPECT_EQ(asked, 2);
  LayoutInstance tight = *trace;
  tight.capacity = 1;
  EXPECT_FALSE(plan_memo(tight, by_search, budget));
}

}  // namespace
}  // namespace stowage::layout_memo_test
