// Version 2 of the formulas for time and memory, by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "instances/strategy/cost/stage_costs.h"
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
  StrategyInstance apart = instance;  // nothing of the exchange of once a step is hidden
  apart.cost.detail->step_overlap = 0;
  const StrategyTable apart_table(apart);
  const StageCosts its(apart_table, {1, 1, 1}, {2, 1, 2});
  EXPECT_NEAR(its.exposed(none), 4 * 0.5 * 136 + 2 * 5 + 143, 1e-9);
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

// Two ranks of a node have the states together; the two nodes have copies of them. 272 parameters.
TEST(StrategyDetailCosts, OfStatesThatOneNodeHas) {
  StrategyInstance instance = detailed();
  instance.options.shard = {2, 0, 4};
  const StrategyTable table(instance);
  const std::vector<StrategyLayout> layouts = table.layouts({1, 1, 1});
  EXPECT_EQ(std::ranges::count(layouts, 2, &StrategyLayout::shard), 2);  // tp 1, cp 1 and 2
  const StageCosts costs(table, {1, 1, 1}, {.dp = 4, .shard = 2});
  const StageCosts whole(table, {1, 1, 1}, {.dp = 4});
  // Parts are summed and gathered at 4 bytes a ms. Half of all parameters then goes to one other
  // node at 1 byte a ms, with one message of 5 ms for each of two collectives.
  const StageCost first = costs.of(0, 0, 1, {1, StrategyRecompute::none});
  EXPECT_NEAR(first.exchange_ms, 4 * 0.5 * 272 / 4 + 4 * 0.5 * 136 + 2 * 5, 1e-9);
  EXPECT_NEAR(first.update_ms, 2 * 136 + 7, 1e-9);
  EXPECT_NEAR((first.memory_mib - whole.of(0, 0, 1, {1}).memory_mib) * 1048576,
              272 * (12 / 2.0 - 12 / 4.0), 1e-6);
  // Level 3 gathers within the node for each micro-batch, and sums the copies once a step.
  const StageCost third = costs.of(0, 0, 1, {3, StrategyRecompute::none});
  EXPECT_NEAR(third.exchange_ms, 4 * 0.5 * 136 + 2 * 5, 1e-9);
  EXPECT_EQ(costs.of(0, 0, 1, {0}).exchange_ms, whole.of(0, 0, 1, {0}).exchange_ms);
}

// Three ranks in a ring, which heads of two do not divide: each computes a block of a row while the
// keys and values of the next arrive.
TEST(StrategyDetailCosts, OfARingBeyondTheHeads) {
  StrategyInstance instance = detailed();
  instance.cluster = {.nodes = 1,
                      .devices_per_node = 3,
                      .memory_mib = 2,
                      .mib_per_ms = {.inside = 0.5 / 1048576, .across = 0.25 / 1048576}};
  instance.options = {.cp = {3},
                      .cp_exchange = {StrategyExchange::all_to_all, StrategyExchange::ring}};
  instance.lengths = {12};
  const StrategyTable table(instance);
  const std::vector<StrategyLayout> layouts = table.layouts({1, 1, 1});
  ASSERT_EQ(layouts.size(), 1U);
  EXPECT_EQ(layouts[0].cp_exchange, StrategyExchange::ring);
  const auto cost_of = [&](StrategyExchange exchange) {
    return StageCosts(table, {1, 1, 1}, {.cp = 3, .cp_exchange = exchange})
        .of(0, 0, 1, {1, StrategyRecompute::none});
  };
  // x = 4, y = 48. All-to-all: 4 (8 + 4) 4 bytes, two thirds of them at 0.5, in both passes. Ring:
  // 4 4 4 bytes take 128 ms, and attention of 2 8 48 takes 256 ms a block forward, 640 backward.
  const StageCost heads = cost_of(StrategyExchange::all_to_all);
  const StageCost hidden = cost_of(StrategyExchange::ring);
  EXPECT_NEAR(heads.time_ms - hidden.time_ms, 2 * (192 * 2 / 3.0 / 0.5), 1e-6);
  EXPECT_NEAR((hidden.memory_mib - heads.memory_mib) * 1048576, 4 * 4 * 4, 1e-6);
  // At a sixth of the speed 768 ms are sent twice forward, and 1536 backward.
  instance.cluster.mib_per_ms.inside /= 6;
  EXPECT_NEAR(cost_of(StrategyExchange::ring).time_ms - hidden.time_ms,
              2 * (768 - 256) + 2 * (1536 - 640), 1e-6);
}

}  // namespace
}  // namespace stowage::strategy_detail_test
