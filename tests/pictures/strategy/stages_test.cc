// The picture of a configuration: its contents, in a well-formed document.
#include "instances/pictures/strategy/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan_builder.h"
#include "instances/strategy/planning_table.h"
#include "tests/svg_document.h"

namespace stowage::strategy_stages_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

StrategyInstance deep(std::int64_t layers, std::int64_t stages) {
  return {.name = "deep",
          .model = {.hidden = 256,
                    .heads = 4,
                    .vocabulary = 500,
                    .blocks = {{.count = layers, .ffn = 1024}}},
          .cluster = {.nodes = stages, .devices_per_node = 1, .memory_mib = 500},
          .options = {.pp = {stages}},
          .lengths = {100, 100, 100, 100}};
}

std::string drawn(const StrategyInstance& instance, const ShownBounds& bounds = {}) {
  const StrategyTable table(instance);
  const std::int64_t stages = instance.options.pp[0];
  const StageCosts costs(table, {stages, 1, 4}, {1, 1, 1});
  std::vector<StagePlan> plan(static_cast<std::size_t>(stages),
                              {table.layers() / stages, {1, StrategyRecompute::selective}});
  std::string svg =
      svg_document({strategy_stages(instance, compose_strategy(costs, plan), bounds)}, "strategy");
  EXPECT_EQ(SvgDocument(svg).complaints(), "");
  return svg;
}

TEST(StrategyStages, ShowTimeAndMemoryOfEachStage) {
  const std::string svg = drawn(deep(4, 2), {.proven = ShownBound{0.5, "prices"}});
  EXPECT_THAT(svg, HasSubstr("pp 2, v 1, 4 micro-batches, tp 1, cp 1, dp 1"));
  EXPECT_THAT(svg, HasSubstr("stage 1: 2 layers, ZeRO 1, selective recomputation"));
  EXPECT_THAT(svg, HasSubstr("memory of a device, 524 288 000 bytes"));
  EXPECT_THAT(svg, HasSubstr("(prices)"));
  EXPECT_THAT(svg, Not(HasSubstr("Not drawn")));
}

TEST(StrategyStages, SayHowManyAreLeftOut) {
  EXPECT_THAT(drawn(deep(64, 64)), HasSubstr("Not drawn: 24 stages."));
}

}  // namespace
}  // namespace stowage::strategy_stages_test
