// Models with experts: memory, time and exchanges in rows worked out by hand, compared with the
// planners' formulas and the verifier's; the rule `experts`; a single expert equals a dense layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/plan_builder.h"
#include "instances/strategy/planning_table.h"
#include "instances/strategy/verify/exhaustive_check.h"
#include "instances/strategy/verify/reference_model.h"
#include "instances/strategy/verify/verify.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_experts_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kByte = 1.0 / 1048576;  // in MiB

// A layer of 64 experts of width 2, of which a token goes to 8; h = k = 4. 64 sequences of 4 tokens
// on 64 devices, 8 to a node. A flop takes a ms; a ms moves 16 bytes in a node, 2 between nodes.
StrategyInstance sixty_four() {
  return {.model = {.hidden = 4, .heads = 4, .blocks = {{.count = 1, .experts = {{64, 8, 2}}}}},
          .cluster = {.nodes = 8,
                      .devices_per_node = 8,
                      .memory_mib = 1,
                      .mib_per_ms = {.inside = 16 * kByte, .across = 2 * kByte}},
          .cost = {.linear_tflops = 1e-9, .attention_tflops = 1e-9, .half_width = 0, .overlap = 0},
          .options = {.ep = {1, 2, 8, 64}, .zero = {1, 3}, .micro_batches = {1}},
          .lengths = std::vector<Tokens>(64, 4)};
}

// Returns the one stage of a configuration with one micro-batch. The planners' and the verifier's
// costs must agree first.
StageCost both(const StrategyInstance& instance, const StrategyLayout& layout,
               const StageChoice& choice) {
  const StrategyTable table(instance);
  const StageCost cost = StageCosts(table, {1, 1, 1}, layout).of(0, 0, table.layers(), choice);
  const StrategyReferenceModel truth(instance);
  const StrategyReferenceModel::Setting setting{1,         1,         1,        layout.tp,
                                                layout.cp, layout.dp, layout.ep};
  EXPECT_TRUE(truth.may_share_experts(setting));
  const StrategyReferenceModel::Stage its =
      truth.stage(setting, 0, truth.layers_of(setting, 0, 0, table.layers()), choice.zero,
                  choice.recompute, choice.stream_chunks, 1);
  EXPECT_NEAR(cost.time_ms, its.time_ms, 1e-9 * its.time_ms);
  EXPECT_NEAR(cost.longest_ms, its.longest_ms, 1e-9 * its.longest_ms);
  EXPECT_NEAR(cost.exchange_ms, its.exchange_ms, 1e-9 * its.exchange_ms);
  EXPECT_NEAR(cost.memory_mib, its.memory_mib, 1e-9 * its.memory_mib);
  return cost;
}

// Parameters: attention 4 (8 + 8) = 64, router 4 64 = 256: 320 that every token meets; an expert
// 3 4 2 = 24, all of them 1536. A token meets 320 + 8 24 = 512.
// x = 4, y = 16: lin = 2 512 4 = 4096, att = 2 4 16 = 128; 3 lin + 3.5 att = 12736.
// T11: a device has 8 copies of 4 tokens of 2 4 bytes, 256, for an all-to-all, of which there are
// two in each direction. ep 2 sends 1/2 of it in the node, 8 ms; ep 8 sends 7/8, 14 ms; ep 64 sends
// 7/64 in the node, 1.75 ms, and meanwhile 56/64 to others, 112 ms.
// T8, d = 64, between nodes: 4 63/64 320 / 2 = 630, and of experts 4 (1 - ep/64) 1536/ep / 2.
// M1: 320 (6 + 12/64) = 1980, and of experts 1536/ep (6 + 12 ep/64).
// M3: (10 + 8) 4 4 = 288 outside of experts; what goes to them, 8 2 4 4 = 256; what they keep, 8
// times 3 numbers of width 2, 8 6 2 4 = 384.
TEST(StrategyExperts, SixtyFourByHand) {
  struct Row {
    std::int64_t ep;
    Ms dispatch;    // four of them
    Ms exchange;    // of experts
    double states;  // bytes of experts
    Ms gather;      // of experts, level 3: 6 (1 - ep/64) 1536/ep / 2
  };
  for (const Row& row : {Row{1, 0, 3024, 9504, 4536}, Row{2, 4 * 8, 1488, 4896, 2232},
                         Row{8, 4 * 14, 336, 1440, 504}, Row{64, 4 * 112, 0, 432, 0}}) {
    SCOPED_TRACE(row.ep);
    const StrategyLayout layout{1, 1, 64, row.ep};
    const StageCost none = both(sixty_four(), layout, {1, StrategyRecompute::none});
    EXPECT_NEAR(none.time_ms, 12736 + row.dispatch, 1e-6);
    EXPECT_NEAR(none.longest_ms, none.time_ms, 1e-6);
    EXPECT_NEAR(none.exchange_ms, 630 + row.exchange, 1e-6);
    EXPECT_NEAR(none.memory_mib / kByte, 1980 + row.states + 288 + 256 + 384, 1e-6);
    // A twenty-fifth of lin; the activation function's 2 bytes of 6, and 2 + 8 of attention's part.
    const StageCost selective = both(sixty_four(), layout, {1, StrategyRecompute::selective});
    EXPECT_NEAR(selective.time_ms, none.time_ms + 0.04 * 4096, 1e-6);
    EXPECT_NEAR(selective.memory_mib / kByte, 1980 + row.states + 256 + 256 + 256, 1e-6);
    // The forward pass again, both of its exchanges included; 2 4 4 bytes beside one layer's.
    const StageCost full = both(sixty_four(), layout, {1, StrategyRecompute::full});
    EXPECT_NEAR(full.time_ms, none.time_ms + 4096 + 128 + row.dispatch / 2, 1e-6);
    EXPECT_NEAR(full.memory_mib / kByte, 1980 + row.states + 32 + 928, 1e-6);
    // Level 3: 18/64 of all states for every ep; 1536/ep parameters of experts are gathered.
    const StageCost three = both(sixty_four(), layout, {3, StrategyRecompute::none});
    EXPECT_NEAR(three.time_ms, none.time_ms + 945 + row.gather, 1e-6);
    EXPECT_EQ(three.exchange_ms, 0);
    EXPECT_NEAR(three.memory_mib / kByte,
                90 + 432 + 928 + 4 * (320 + 1536.0 / static_cast<double>(row.ep)), 1e-6);
  }
}

// With tp 2, cp 2, dp 2 on two nodes of 4: four ranks of two devices share 4 experts of width 5,
// two to a node; a token goes to 2 of them, and through a part of width 3 besides; no gate.
// Parameters: 64 + 2 4 3 + 4 4 = 104, an expert 2 4 5 = 40; a token meets 184. 16 tokens of a
// sequence on 4 devices: x = 4, y = 64; lin = 2 184 4 = 1472, att = 2 4 64 = 512.
// T5: 1 + 2 + 1 passes instead of 2: twice (4 + 6) 1/2 2 4 4 2 = 640 bytes in a node, 40 ms.
// T6: twice 1/2 (16 + 16) 4 = 64 bytes, 8 ms.
// T11: 2 copies of 4 tokens of 8 bytes, 64, a quarter to the neighbour, 1 ms, half to other nodes,
// 16 ms; four times.
TEST(StrategyExperts, BesideASharedPartByHand) {
  StrategyInstance instance = sixty_four();
  instance.model.blocks = {{.count = 1, .ffn = 3, .gated = false, .experts = {{4, 2, 5}}}};
  instance.cluster.nodes = 2;
  instance.cluster.devices_per_node = 4;
  instance.options = {.tp = {2}, .cp = {2}, .ep = {4}};
  instance.lengths = {16, 16};
  const StageCost cost = both(instance, {2, 2, 2, 4}, {1, StrategyRecompute::none});
  EXPECT_NEAR(cost.time_ms, 3 * 1472 + 3.5 * 512 + 40 + 8 + 4 * 16, 1e-6);
  // Four devices share 52 parameters on each, between nodes; an expert's half is on one alone.
  EXPECT_NEAR(cost.exchange_ms, 4 * 0.75 * 52 / 2, 1e-6);
  // States 52 (6 + 12/4) + 20 18; 18 4 4, what goes to experts 2 2 4 4, results of two products
  // and functions of width 2 5 + 3: 4 13 4.
  EXPECT_NEAR(cost.memory_mib / kByte, 468 + 360 + 288 + 64 + 208, 1e-6);
}

// Groups that do not fill nodes count all other ranks as in other nodes.
TEST(StrategyExperts, RanksThatFillNoNodeByHand) {
  StrategyInstance instance = sixty_four();
  instance.model.blocks = {{.count = 1, .experts = {{3, 1, 2}}}};
  instance.cluster.nodes = 3;
  instance.cluster.devices_per_node = 2;
  instance.options.ep = {1, 3};
  instance.lengths = std::vector<Tokens>(6, 4);
  const StageCost alone = both(instance, {1, 1, 6, 1}, {1, StrategyRecompute::none});
  const StageCost three = both(instance, {1, 1, 6, 3}, {1, StrategyRecompute::none});
  // 4 tokens of 8 bytes, two thirds of them, four times.
  EXPECT_NEAR(three.time_ms - alone.time_ms, 4 * (32.0 * 2 / 3 / 2), 1e-6);
}

// Layers that differ: a dense one first, whose working space is not that of the others.
TEST(StrategyExperts, ADenseLayerFirstByHand) {
  StrategyInstance instance = sixty_four();
  instance.model.blocks.insert(instance.model.blocks.begin(), {.count = 1, .ffn = 8});
  const StrategyLayout layout{1, 1, 64, 8};
  const StageCost full = both(instance, layout, {1, StrategyRecompute::full});
  // 64 + 3 4 8 = 160 parameters more; the wider layer's 928 bytes are more than 34 4 4 = 544.
  EXPECT_NEAR(full.memory_mib / kByte, (320 + 160) * 6.1875 + 1440 + 2 * 32 + 928, 1e-6);
  const StageCost three = both(instance, layout, {3, StrategyRecompute::none});
  EXPECT_NEAR(three.memory_mib / kByte, 480 * 18 / 64.0 + 432 + 928 + 544 + 4 * (320 + 1536 / 8.0),
              1e-6);
}

// The largest number of experts in one stage does not affect a small layer in another stage: its
// costs are those among small layers.
TEST(StrategyExperts, HugeOnesDoNotTouchOtherStages) {
  StrategyInstance instance = sixty_four();
  instance.model.hidden = 1023;
  instance.model.heads = 1;
  instance.model.kv_width = 7;
  const StrategyBlock small{.count = 1, .experts = {{2, 1, 1}}};
  const auto second_stage = [&](const StrategyBlock& first) {
    instance.model.blocks = {first, small, {.count = 1, .ffn = 5}};
    const StrategyTable table(instance);
    return StageCosts(table, {2, 1, 1}, {1, 1, 32, 1}).of(1, 1, 2, {1, StrategyRecompute::none});
  };
  const std::int64_t most = (1 << 24) - 1;
  const StageCost beside_huge = second_stage({.count = 1, .experts = {{most, most - 2, most}}});
  const StageCost beside_small = second_stage({.count = 1, .ffn = 3});
  EXPECT_GT(beside_small.exchange_ms, 0);
  EXPECT_EQ(beside_huge.time_ms, beside_small.time_ms);
  EXPECT_EQ(beside_huge.exchange_ms, beside_small.exchange_ms);
  EXPECT_EQ(beside_huge.memory_mib, beside_small.memory_mib);
}

TEST(StrategyExperts, OneExpertIsADenseLayer) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const StrategyInstance dense = tiny_strategy(seed);
    StrategyInstance one = dense;
    for (StrategyBlock& block : one.model.blocks) {
      if (block.ffn == 0) continue;
      block.experts = {1, 1, block.ffn};
      block.ffn = 0;
      ++compared;
    }
    EXPECT_EQ(least_step(one, 100'000), least_step(dense, 100'000)) << seed;
    EXPECT_EQ(instance_hash(one), instance_hash(dense)) << seed;
    const StrategyTable table(one);
    const StrategyTable of_dense(dense);
    ASSERT_EQ(table.runs().size(), of_dense.runs().size()) << seed;
    for (std::size_t k = 0; k < table.runs().size(); ++k) {
      EXPECT_EQ(table.runs()[k].end, of_dense.runs()[k].end) << seed;
      EXPECT_EQ(table.runs()[k].layer, of_dense.runs()[k].layer) << seed;
    }
  }
  EXPECT_GT(compared, 50);
}

// The rules that a plan of 8 devices breaks.
template <class Change>
std::vector<std::string> broken(Change change) {
  StrategyInstance instance = sixty_four();
  instance.cluster.nodes = 1;
  instance.options.tp = {1, 2};
  const StrategyTable table(instance);
  const StageCosts costs(table, {1, 1, 1}, {1, 1, 8, 8});
  StrategyPlan plan =
      compose_strategy(costs, std::vector<StagePlan>{{1, {1, StrategyRecompute::none}}});
  change(instance, plan);
  std::vector<std::string> rules;
  for (const Violation& violation : verify(instance, plan)) rules.push_back(violation.rule);
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

TEST(StrategyExperts, TheirRuleIsKeptAndBroken) {
  using I = StrategyInstance;
  using P = StrategyPlan;
  EXPECT_THAT(broken([](I&, P&) {}), IsEmpty());
  EXPECT_THAT(broken([](I&, P& p) { p.ep = 0; }), ElementsAre("options", "experts"));
  EXPECT_THAT(broken([](I&, P& p) { p.ep = 64; }), ElementsAre("experts"));
  EXPECT_THAT(broken([](I& i, P&) { i.options.ep = {1}; }), ElementsAre("options"));
  EXPECT_THAT(broken([](I& i, P&) { i.model.blocks[0].experts->count = 12; }),
              ElementsAre("experts"));
  EXPECT_THAT(broken([](I& i, P&) { i.model.blocks[0].experts.reset(); }), ElementsAre("experts"));
  EXPECT_THAT(broken([](I& i, P&) { i.model.blocks[0].experts->count = 1; }),
              ElementsAre("experts"));
  const auto halved = [](P& p) { p.tp = 2, p.dp = 4, p.ep = 2; };
  // Its times are others, but the configuration is allowed; without sequence parallelism it is not.
  EXPECT_THAT(broken([&](I&, P& p) { halved(p); }), ElementsAre("memory", "time", "objective"));
  EXPECT_THAT(broken([&](I& i, P& p) {
                halved(p);
                i.model.sequence_parallel = false;
              }),
              ElementsAre("experts"));
  EXPECT_THAT(broken([](I&, P& p) { p.ep = 2; }), ElementsAre("memory", "time", "objective"));
}

}  // namespace
}  // namespace stowage::strategy_experts_test
