// The bound on all groupings of FlexSP's chunks, compared with the optimum of each chunk.
#include "solvers/scatter/published/flexsp_ideal_grouping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "formulations/scatter/milp.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/scatter/published/flexsp.h"
#include "solvers/solve.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_flexsp_chunks_test {
namespace {

constexpr std::uint64_t kInstances = 150;
constexpr double kTolerance = 1e-6;

class FlexspChunksEach : public testing::TestWithParam<MilpBackend> {};

// The fastest grouping of the chunk in one micro-batch, ms.
Ms optimum(const ScatterInstance& view, const ScatterTable& table, const std::vector<int>& chunk,
           MilpBackend backend) {
  std::map<Tokens, int, std::greater<>> counts;
  for (const int position : chunk) ++counts[table.length(position)];
  std::vector<LengthClass> classes;
  for (const auto& [length, count] : counts) classes.push_back({length, count});
  const ScatterMilp milp = build_scatter_milp(view, classes, {.slots = 1, .strengthened = true});
  Budget budget;
  const MilpResult result = solve_milp(backend, milp.model, {}, budget);
  if (result.status == MilpStatus::infeasible) return std::numeric_limits<Ms>::infinity();
  EXPECT_EQ(result.status, MilpStatus::optimal);
  return result.objective;
}

TEST_P(FlexspChunksEach, NoSolverGroupsTheChunksFasterThanTheBound) {
  int planned = 0;
  int close = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed);
    if (instance.lengths.empty() || !unplaceable_sequences(instance).empty()) continue;
    const ScatterInstance view = flexsp_view(instance);
    const ScatterTable table(view);
    Ms best = std::numeric_limits<Ms>::infinity();
    for (const Chunks& chunks : flexsp_chunks(table)) {
      Ms sum = 0;
      for (const std::vector<int>& chunk : chunks) sum += optimum(view, table, chunk, GetParam());
      best = std::min(best, sum);
    }
    Budget budget;
    const FlexspIdealGrouping result = plan_flexsp_chunks(instance, GetParam(), budget);
    EXPECT_TRUE(result.failure.empty()) << seed << ' ' << result.failure;
    EXPECT_LE(result.bound, best * (1 + kTolerance)) << seed;
    if (!result.plan) continue;
    ++planned;
    EXPECT_TRUE(verify(view, *result.plan).empty()) << seed;
    EXPECT_GE(result.plan->objective_ms, best * (1 - kTolerance)) << seed;
    if (result.bound >= best * 0.99) ++close;
  }
  EXPECT_GT(planned, 80);
  EXPECT_GT(close, planned / 2);  // and the bound is useful
}

TEST_P(FlexspChunksEach, NeitherDoesThePublishedPlanner) {
  for (std::uint64_t seed = 0; seed < kInstances / 3; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed);
    if (instance.lengths.empty() || !unplaceable_sequences(instance).empty()) continue;
    Budget budget;
    const FlexspResult published = flexsp(instance, {.backend = GetParam()}, budget);
    if (!published.plan) continue;
    Budget again;
    const FlexspIdealGrouping result = plan_flexsp_chunks(instance, GetParam(), again);
    EXPECT_GE(published.plan->objective_ms, result.bound * (1 - kTolerance)) << seed;
  }
}

TEST_P(FlexspChunksEach, TheMethodSaysSoInItsOutcome) {
  Budget budget;
  const Outcome outcome =
      solve(Instance(tiny_scatter(15)), {.method = "flexsp-chunks", .backend = GetParam()}, budget);
  ASSERT_TRUE(outcome.plan);
  EXPECT_EQ(outcome.found_by, "flexsp-chunks");
  ASSERT_TRUE(outcome.method_bound);
  EXPECT_GE(*outcome.method_bound, outcome.bound * (1 - kTolerance));
  EXPECT_LE(*outcome.method_bound, *outcome.objective * (1 + kTolerance));
}

TEST_P(FlexspChunksEach, AStepWithoutSequencesHasAPlan) {
  ScatterInstance instance = tiny_scatter(15);
  instance.lengths.clear();
  Budget budget;
  const Outcome outcome =
      solve(Instance(instance), {.method = "flexsp-chunks", .backend = GetParam()}, budget);
  EXPECT_EQ(outcome.status, Status::optimal);
  EXPECT_EQ(outcome.objective, 0);
}

TEST_P(FlexspChunksEach, ABudgetOfNothingProvesNoMoreThanTheArea) {
  const ScatterInstance instance = tiny_scatter(15);
  Budget none({.node_limit = 0});
  Budget all;
  EXPECT_LE(plan_flexsp_chunks(instance, GetParam(), none).bound,
            plan_flexsp_chunks(instance, GetParam(), all).bound * (1 + kTolerance));
}

INSTANTIATE_TEST_SUITE_P(Backends, FlexspChunksEach, testing::ValuesIn(built_backends()),
                         [](const auto& param) { return std::string(name(param.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FlexspChunksEach);

}  // namespace
}  // namespace stowage::scatter_flexsp_chunks_test
