// The price of a given configuration, with stages as trainers assign them, compared with the
// verifier.
#include "instances/strategy/cost/price.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "instances/strategy/json/json.h"
#include "instances/strategy/plan_builder.h"
#include "instances/strategy/verify/verify.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_price_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StrategyPrice, LayersAreDealtAsTrainersDealThem) {
  EXPECT_THAT(dealt_layers(8, 4), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(dealt_layers(126, 8), ElementsAre(15, 16, 16, 16, 16, 16, 16, 15));
  EXPECT_THAT(dealt_layers(7, 3), ElementsAre(2, 3, 2));
  EXPECT_THAT(dealt_layers(3, 2), ElementsAre(1, 2));
  EXPECT_THAT(dealt_layers(5, 1), ElementsAre(5));
  for (std::int64_t layers = 1; layers < 40; ++layers) {
    for (std::int64_t stages = 1; stages <= layers; ++stages) {
      const std::vector<std::int64_t> dealt = dealt_layers(layers, stages);
      EXPECT_EQ(std::accumulate(dealt.begin(), dealt.end(), std::int64_t{0}), layers);
      EXPECT_GE(*std::min_element(dealt.begin(), dealt.end()), layers / stages);
    }
  }
}

TEST(StrategyPrice, IsWhatTheVerifierCounts) {
  int priced = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    StrategyInstance instance =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed) : tiny_experts(seed), seed);
    instance.cluster.memory_mib = 1e9;
    const StrategyTable table(instance);
    for (const StrategyClass& its : table.classes()) {
      if (its.v > 1) continue;
      for (const StrategyLayout& layout : table.layouts(its)) {
        StrategyPlan plan = price_configuration(instance, {its, layout, table.choices().back()});
        plan.instance_hash = instance_hash(instance);
        EXPECT_THAT(verify(instance, plan), IsEmpty()) << seed;
        ++priced;
      }
    }
  }
  EXPECT_GT(priced, 200);
}

// 126 layers on 8 stages of 8 chunks, which no plan may have yet, have a price.
TEST(StrategyPrice, ChunksNeedNotDivideTheLayers) {
  StrategyInstance instance = tiny_first(1);
  instance.model.blocks = {{.count = 126, .ffn = 64}};
  const StrategyPlan few = price_configuration(
      instance, {.its = {.pp = 8, .v = 1, .micro_batches = 64}, .layout = {}, .choice = {}});
  const StrategyPlan many = price_configuration(
      instance, {.its = {.pp = 8, .v = 8, .micro_batches = 64}, .layout = {}, .choice = {}});
  EXPECT_GT(few.step_ms, 0);
  EXPECT_NE(many.step_ms, few.step_ms);
}

}  // namespace
}  // namespace stowage::strategy_price_test
