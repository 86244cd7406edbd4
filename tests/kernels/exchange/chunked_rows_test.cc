// Executed plans whose rows are chunks: their gradients are those of the whole step, and a plan
// with wrong parts is detected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/assign/packed_plan.h"
#include "kernels/run/executor.h"
#include "tests/chunked_assign.h"

namespace stowage::kernels::exchange_chunked_rows_test {
namespace {

// Chunks of 24 tokens, one retained; sequence 0 has four parts, sequence 3 two.
AssignInstance four_sequences() {
  AssignInstance instance{
      .name = "four",
      .devices = 5,
      .schemes = {{.name = "t2", .tp = 2, .pp = 2, .linear_ms = 1, .max_tokens = 50},
                  {.name = "t1", .linear_ms = 2, .max_tokens = 40}},
      .strategies = {{.name = "both", .replicas = {1, 1}}},
      .pad_multiple = 4,
      .lengths = {90, 20, 3, 33}};
  instance.constraints.chunks = {.size = 24, .retained = 1};
  return instance;
}

AssignPlan planned(const AssignInstance& instance) {
  return compose_assign(instance, 0, {{0, {{0}, {1, 2}}}, {1, {{3}}}});
}

ExecutionReport run(const AssignInstance& instance, const AssignPlan& plan,
                    const ExecuteOptions& options = {.scale = 1}) {
  return execute(instance, plan, options, {}, nullptr);
}

std::vector<AssignRow>& rows_of_the_longest(AssignPlan& plan) { return plan.replicas[0].rows; }

TEST(ChunkedRows, ComputeWhatTheSequencesComputeAlone) {
  for (const std::int64_t scale : {1, 3, 50}) {
    for (const int retained : {1, 2, 9}) {
      AssignInstance instance = four_sequences();
      instance.constraints.chunks->retained = retained;
      const ExecutionReport report = run(instance, planned(instance), {.scale = scale});
      EXPECT_TRUE(report.passed()) << testing::PrintToString(report.problems.list());
      EXPECT_EQ(report.output.compared, 4);
      EXPECT_EQ(report.weight_gradient.compared, kWeightTensors);
      EXPECT_GT(report.output.error, 0);
      EXPECT_EQ(report.batches.size(), 3U);  // two of cut sequences, one packed row
    }
  }
}

TEST(ChunkedRows, RandomPlansPassWithAnyExchange) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Draw draw(seed);
    const AssignInstance instance = chunked_assign(draw, {.most_sequences = 5, .most_tokens = 50});
    const AssignPlan plan = chunked_plan(instance, draw);
    for (const ExchangeKind kind : {ExchangeKind::ulysses, ExchangeKind::zigzag}) {
      const ExecutionReport report = run(instance, plan, {.scale = 1, .exchange = {.kind = kind}});
      EXPECT_TRUE(report.passed())
          << "seed " << seed << ' ' << testing::PrintToString(report.problems.list());
    }
  }
}

TEST(ChunkedRows, ThePredictedStepIsThePlans) {
  const AssignInstance instance = four_sequences();
  const AssignPlan plan = planned(instance);
  EXPECT_DOUBLE_EQ(run(instance, plan).predicted_critical_path_ms, plan.objective_ms);
}

TEST(ChunkedRows, AMissingPartIsFoundOut) {
  for (const std::size_t gone : {0, 1, 3}) {
    const AssignInstance instance = four_sequences();
    AssignPlan plan = planned(instance);
    std::vector<AssignRow>& rows = rows_of_the_longest(plan);
    const auto first =
        std::ranges::find_if(rows, [](const AssignRow& row) { return row.part.has_value(); });
    rows.erase(first + static_cast<std::ptrdiff_t>(gone));
    const ExecutionReport report = run(instance, plan);
    EXPECT_FALSE(report.passed()) << gone;
    EXPECT_THAT(report.problems.list(), testing::Contains(testing::HasSubstr("parts"))) << gone;
  }
}

TEST(ChunkedRows, PartsOutOfOrderAreFoundOut) {
  const AssignInstance instance = four_sequences();
  AssignPlan plan = planned(instance);
  std::vector<AssignRow>& rows = rows_of_the_longest(plan);
  const auto first =
      std::ranges::find_if(rows, [](const AssignRow& row) { return row.part.has_value(); });
  std::swap(*first, *(first + 1));
  EXPECT_FALSE(run(instance, plan).passed());
}

TEST(ChunkedRows, ADenominatorThatIsWrongSpoilsTheGradients) {
  const AssignInstance instance = four_sequences();
  AssignPlan plan = planned(instance);
  std::vector<AssignRow>& rows = rows_of_the_longest(plan);
  for (AssignRow& row : rows) {
    if (row.part) row.loss_tokens *= 2;
  }
  const ExecutionReport report = run(instance, plan);
  EXPECT_TRUE(report.output.passed());
  EXPECT_FALSE(report.weight_gradient.passed());
}

}  // namespace
}  // namespace stowage::kernels::exchange_chunked_rows_test
