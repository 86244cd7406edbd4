// Steps whose layers have sliding windows (cost.window), executed: both kinds of layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "instances/scatter/json/json.h"
#include "instances/verify.h"
#include "kernels/run/executor.h"
#include "kernels/scatter/packed_plan.h"
#include "solvers/solve.h"
#include "tests/kernels/plans.h"

namespace stowage::kernels::run_layer_kinds_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

ScatterInstance windowed(Tokens window, double share) {
  ScatterInstance instance = ten_sequences();
  instance.cost.window = {.tokens = window, .share = share};
  return instance;
}

ExecutionReport run(const ScatterInstance& instance, const ExecuteOptions& options = {.scale = 1}) {
  return execute(instance, ten_sequences_planned(), options, {}, nullptr);
}

std::string problems_of(const ExecutionReport& report) {
  return testing::PrintToString(report.problems.list());
}

TEST(LayerKinds, EveryExchangeComputesWindows) {
  for (const Tokens window : {1, 7, 30, 1000}) {
    for (std::size_t kind = 0; kind < kExchangeNames.size(); ++kind) {
      SCOPED_TRACE(testing::Message() << "window " << window << ", " << kExchangeNames[kind]);
      const ExecutionReport report =
          run(windowed(window, 0.75),
              {.scale = 1, .exchange = {.kind = static_cast<ExchangeKind>(kind)}});
      EXPECT_TRUE(report.passed()) << problems_of(report);
      EXPECT_EQ(report.output.compared, 20);  // ten sequences in two kinds of layers
    }
  }
}

TEST(LayerKinds, TheLossIsTheMeanOfBothKinds) {
  const double full = run(ten_sequences()).reference_loss;
  const double window = run(windowed(5, 1)).reference_loss;
  const double mixed = run(windowed(5, 0.25)).reference_loss;
  EXPECT_NE(full, window);
  EXPECT_NEAR(mixed, 0.75 * full + 0.25 * window, 1e-9 * std::abs(full));
  EXPECT_EQ(run(windowed(152, 1)).loss, run(ten_sequences()).loss);  // the longest, padded
}

TEST(LayerKinds, NotesSayWhatWasExecuted) {
  EXPECT_EQ(run(ten_sequences()).notes, std::vector<std::string>());
  EXPECT_THAT(run(windowed(6, 1), {.scale = 2}).notes,
              Contains(HasSubstr("every layer has windows of 3 tokens after scaling")));
  EXPECT_THAT(run(windowed(6, 0.5)).notes, Contains(HasSubstr("layers without were executed")));
  EXPECT_EQ(run(windowed(6, 0)).output.compared, 10);
}

// The work of a window is less, so that the scale may be smaller.
TEST(LayerKinds, TheScaleFollowsTheWork) {
  const ScaledPlan full =
      scale_plan(packed_plan(ten_sequences(), ten_sequences_planned()), {}, 1, 1);
  const ScaledPlan both =
      scale_plan(packed_plan(windowed(8, 0.5), ten_sequences_planned()), {}, 1, 1);
  const ScaledPlan window =
      scale_plan(packed_plan(windowed(8, 1), ten_sequences_planned()), {}, 1, 1);
  EXPECT_LT(window.work_flop, full.work_flop);
  EXPECT_DOUBLE_EQ(both.work_flop, full.work_flop + window.work_flop);
}

// A plan of a bundled step with windows passes the verifier and is computed.
TEST(LayerKinds, ABundledStepWithWindows) {
  const std::filesystem::path path = std::filesystem::path(STOWAGE_SOURCE_DIR) /
                                     "instances/data/scatter/tiny/windowed-layers.json";
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  const Result<ScatterInstance> instance = read_scatter_instance(text.str(), path.parent_path());
  ASSERT_TRUE(instance);
  Budget budget({.node_limit = 200});
  const Outcome outcome = solve(*instance, {}, budget);
  ASSERT_TRUE(outcome.plan);
  const ExecutionReport report =
      execute(*instance, std::get<ScatterPlan>(*outcome.plan), {.scale = 1}, {}, nullptr);
  EXPECT_TRUE(report.passed()) << problems_of(report);
  EXPECT_EQ(report.output.compared, 18);
}

// Values narrower than keys, as in multi-head latent attention, and heads that are together wider
// than the model, as in Qwen3.
TEST(LayerKinds, BlocksOfOtherWidths) {
  for (const int value_dim : {4, 16, 24}) {
    for (std::size_t kind = 0; kind < kExchangeNames.size(); ++kind) {
      SCOPED_TRACE(testing::Message() << "value_dim " << value_dim << ", " << kExchangeNames[kind]);
      const ExecutionReport report =
          run(windowed(20, 0.5), {.scale = 1,
                                  .block = {.hidden = 32,
                                            .heads = 4,
                                            .kv_heads = 2,
                                            .head_dim = 24,
                                            .ffn = 48,
                                            .value_dim = value_dim},
                                  .exchange = {.kind = static_cast<ExchangeKind>(kind)}});
      EXPECT_TRUE(report.passed()) << problems_of(report);
    }
  }
}

}  // namespace
}  // namespace stowage::kernels::run_layer_kinds_test
