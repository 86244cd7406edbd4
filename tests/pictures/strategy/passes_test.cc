// The pipeline of a configuration, pass by pass: its contents, in a well-formed document.
#include "instances/pictures/strategy/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan_builder.h"
#include "instances/strategy/planning_table.h"
#include "tests/svg_document.h"

namespace stowage::strategy_passes_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string drawn(std::int64_t stages, std::int64_t chunks, std::int64_t micro_batches,
                  Mib memory = 1e6) {
  const StrategyInstance instance{
      .model = {.hidden = 256, .heads = 4, .blocks = {{.count = 8, .ffn = 1024}}},
      .cluster = {.nodes = stages, .devices_per_node = 1, .memory_mib = memory},
      .options = {.pp = {stages}, .v = {chunks}},
      .lengths = std::vector<Tokens>(static_cast<std::size_t>(micro_batches), 100)};
  const StrategyTable table(instance);
  const StageCosts costs(table, {stages, chunks, micro_batches}, {1, 1, 1});
  const std::vector<StagePlan> plan(static_cast<std::size_t>(stages),
                                    {8 / stages, {1, StrategyRecompute::none}});
  const auto schedules = strategy_schedules(instance, compose_strategy(costs, plan));
  if (!schedules) return "";
  std::string svg = svg_document({strategy_passes(instance, *schedules)}, "passes");
  EXPECT_EQ(SvgDocument(svg).complaints(), "");
  return svg;
}

TEST(StrategyPasses, ShowEverySchedule) {
  const std::string svg = drawn(4, 1, 4);
  EXPECT_THAT(svg, HasSubstr("1F1B, as planned"));
  EXPECT_THAT(svg, HasSubstr("ZB-H1, not planned"));
  EXPECT_THAT(svg, HasSubstr("ZB-H2, not planned"));
  EXPECT_THAT(svg, HasSubstr("forward pass of micro-batch 0, stage 3, "));
  EXPECT_THAT(svg, HasSubstr("weights&#39; pass of micro-batch 3, stage 0, "));
  EXPECT_THAT(svg, Not(HasSubstr("more than a device has")));
}

TEST(StrategyPasses, ShowChunksAndWhatDoesNotFit) {
  const std::string svg = drawn(2, 2, 4, 1);
  EXPECT_THAT(svg, HasSubstr("interleaved 1F1B, as planned"));
  EXPECT_THAT(svg, HasSubstr("stage 1, chunk 1, "));
  EXPECT_THAT(svg, HasSubstr("more than a device has"));
}

TEST(StrategyPasses, SayWhichStagesAreDrawn) {
  EXPECT_THAT(drawn(8, 1, 16'000), HasSubstr("Drawn: the first 2 stages."));
  EXPECT_EQ(drawn(8, 1, 100'000), "");  // too many passes to simulate
}

}  // namespace
}  // namespace stowage::strategy_passes_test
