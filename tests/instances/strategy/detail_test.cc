// Version 2 of the formulas for time and memory, by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "instances/strategy/planning_table.h"

namespace stowage::strategy_detail_test {
namespace {

// Version 2 of the formulas, of a layer whose queries are wider than the model, on two nodes of
// two.
StrategyInstance detailed() {
  return {.model = {.hidden = 4,
                    .heads = 2,
                    .kv_width = 4,
                    .query_width = 8,
                    .vocabulary = 10,
                    .blocks = {{.count = 1, .ffn = 8}}},
          .cluster = {.nodes = 2,
                      .devices_per_node = 2,
                      .memory_mib = 2,
                      .mib_per_ms = {.inside = 4.0 / 1048576, .across = 1.0 / 1048576}},
          .cost = {.linear_tflops = 1e-9,
                   .attention_tflops = 1e-9,
                   .half_width = 0,
                   .overlap = 0.5,
                   .detail = StrategyDetail{.memory_mib_per_ms = 1.0 / 1048576,
                                            .pass_bytes = 10,
                                            .pass_ms = 3,
                                            .message_ms = 5,
                                            .square_bytes = 20,
                                            .update_bytes = 2,
                                            .update_ms = 7,
                                            .activation_factor = 2,
                                            .fixed_mib = 1,
                                            .gradient_bytes = 2}},
          .options = {.tp = {1, 2}, .cp = {1, 2, 4}},
          .lengths = {4, 4, 4, 4}};
}

TEST(StrategyDetailCosts, ByHand) {
  StrategyInstance instance = detailed();
  const StrategyTable table(instance);
  EXPECT_EQ(table.runs().front().layer.shared, 4 * (16 + 8 + 24));  // 192
  const StageCosts costs(table, {1, 1, 1}, {2, 1, 2});
  // x = 4, y = 16: lin 2 192 4, att 2 8 16, tp 8 4 4 / 4, between 10 4 4 + 3, head 6 10 4 4 + 12
  // 10 4.
  const StageCost none = costs.of(0, 0, 1, {1, StrategyRecompute::none});
  EXPECT_NEAR(none.time_ms, 3 * 1536 + 3.5 * 256 + 2.5 * 32 + 3 * 163 + 960 + 480, 1e-6);
  // 272 parameters, one rank of a node: 1 byte in a ms, and one more node.
  EXPECT_NEAR(none.exchange_ms, 4 * 0.5 * 136 + 2 * 5, 1e-9);
  EXPECT_NEAR(none.update_ms, 2 * 68 + 7, 1e-9);
  EXPECT_NEAR(costs.exposed(none), 143, 1e-9);
  EXPECT_NEAR((none.memory_mib - 1) * 1048576,
              136 * (2 + 2 + 12 / 2.0) + 2 * ((40 + 64) * 4 + 48 * 4) + 10 * 10 * 4, 1e-6);
  EXPECT_NEAR(costs.of(0, 0, 1, {0, StrategyRecompute::none}).update_ms, 2 * 136 + 7, 1e-9);
  const StageCost selective = costs.of(0, 0, 1, {1, StrategyRecompute::selective});
  EXPECT_NEAR(selective.time_ms, none.time_ms + 0.3 * 163, 1e-6);
  EXPECT_NEAR((selective.memory_mib - 1) * 1048576, 1360 + 2 * ((40 + 48) * 4 + 32 * 4) + 400,
              1e-6);
  const StageCost full = costs.of(0, 0, 1, {1, StrategyRecompute::full});
  EXPECT_NEAR(full.time_ms, none.time_ms + 1536 + 256 + 32 + 163, 1e-6);
  EXPECT_NEAR((full.memory_mib - 1) * 1048576, 1360 + 2 * 2 * 16 + 1216 + 400, 1e-6);
}

// A ring over whole nodes uses the cards of all ranks of a node; an all-to-all both kinds of links.
TEST(StrategyDetailCosts, LinksOfANodeByHand) {
  StrategyInstance instance = detailed();
  const StrategyTable table(instance);
  const StageCosts replicas(table, {1, 1, 1}, {1, 1, 4});
  EXPECT_NEAR(replicas.of(0, 0, 1, {1, StrategyRecompute::none}).exchange_ms,
              4 * 0.75 * 272 / 2 + 2 * 5, 1e-9);
  const StageCosts context(table, {1, 1, 1}, {1, 4, 1});
  EXPECT_NEAR(context.of(0, 0, 1, {1, StrategyRecompute::none}).time_ms,
              replicas.of(0, 0, 1, {1, StrategyRecompute::none}).time_ms + 2 * 48 * 4 * 0.5, 1e-6);
  // Level 3: three collectives of a micro-batch.
  const StageCost three = replicas.of(0, 0, 1, {3, StrategyRecompute::none});
  const Ms computing = replicas.of(0, 0, 1, {1, StrategyRecompute::none}).time_ms;
  EXPECT_NEAR(three.time_ms,
              computing + std::max(0.0, 6 * 0.75 * 272 / 2 + 3 * 5 - 0.5 * computing), 1e-6);
  // Two products of the whole square and twenty bytes for each score of two heads.
  instance.model.flash_attention = false;
  const StrategyTable plain(instance);
  EXPECT_NEAR(
      StageCosts(plain, {1, 1, 1}, {1, 1, 4}).of(0, 0, 1, {1, StrategyRecompute::none}).time_ms,
      computing - 3.5 * 256 + 3 * (4 * 8 * 16 + 20 * 2 * 16), 1e-6);
}

// 28 heads with 4 of keys and values: 7 ranks would have parts of those.
TEST(StrategyDetailCosts, RanksHaveWholeHeadsOfKeys) {
  StrategyInstance instance = detailed();
  instance.model.heads = 28;
  instance.model.query_width = 28 * 4;
  instance.model.kv_width = 4 * 4;
  const StrategyTable table(instance);
  for (const std::int64_t tp : {1, 2, 4, 28}) EXPECT_TRUE(table.may_share_heads(tp, 1)) << tp;
  for (const std::int64_t tp : {3, 7, 14, 56}) EXPECT_FALSE(table.may_share_heads(tp, 1)) << tp;
  EXPECT_FALSE(table.may_share_heads(2, 7));
  EXPECT_TRUE(table.may_share_heads(1, 4));
  instance.cost.detail.reset();
  EXPECT_TRUE(table.may_share_heads(7, 1));
}

}  // namespace
}  // namespace stowage::strategy_detail_test
