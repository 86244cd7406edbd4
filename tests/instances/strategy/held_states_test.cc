// The states on each device: by hand, and by sums that hold for every configuration.
#include "instances/strategy/cost/held_states.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "instances/strategy/cost/layer.h"

namespace stowage::strategy_held_states_test {
namespace {

// Four layers of 16384 parameters, of which weights and optimizer need 14 bytes each.
constexpr double kLayer = 16384.0 * 14;

StrategyInstance four_layers() {
  StrategyInstance wanted{.name = "four"};
  wanted.model = {.hidden = 64, .heads = 8, .vocabulary = 0, .blocks = {{.count = 4, .ffn = 0}}};
  return wanted;
}

StrategyPlan plan_of(std::int64_t pp, std::int64_t tp, std::int64_t dp, std::int64_t zero,
                     std::int64_t layers = 4) {
  StrategyPlan plan{.pp = pp, .tp = tp, .dp = dp};
  plan.stages.assign(static_cast<std::size_t>(pp), {.layers = layers / pp, .zero = zero});
  return plan;
}

std::vector<std::int64_t> all_but(std::int64_t devices, std::int64_t lost) {
  std::vector<std::int64_t> left;
  for (std::int64_t i = 0; i < devices; ++i) {
    if (i != lost) left.push_back(i);
  }
  return left;
}

TEST(HeldStates, OfTwoStagesOfTwoRanks) {
  const HeldStates held(four_layers(), plan_of(2, 2, 1, 0));
  EXPECT_EQ(held.devices(), 4);
  for (std::int64_t device = 0; device < 4; ++device) EXPECT_EQ(held.bytes(device), kLayer);
  const auto shared = held.shared_bytes(held);
  EXPECT_EQ(shared[0][0], kLayer);
  EXPECT_EQ(shared[0][1], 0);  // the other half of the same layers
  EXPECT_EQ(shared[0][2], 0);  // other layers
  EXPECT_EQ(held.missing_bytes(all_but(4, -1)), 0);
  EXPECT_EQ(held.missing_bytes(all_but(4, 3)), kLayer);
  // One rank for both halves, in stages of 2 layers.
  const HeldStates wide(four_layers(), plan_of(2, 1, 1, 0));
  EXPECT_EQ(wide.bytes(0), 2 * kLayer);
  const auto kept = wide.shared_bytes(held);
  EXPECT_EQ(kept[0], (std::vector<double>{kLayer, kLayer, 0, 0}));
  EXPECT_EQ(kept[1], (std::vector<double>{0, 0, kLayer, kLayer}));
}

TEST(HeldStates, ReplicasHoldCopiesUnlessTheyAreSharded) {
  const double all = 4 * kLayer;
  for (const std::int64_t zero : {0, 1, 2, 3}) {
    const HeldStates held(four_layers(), plan_of(1, 1, 4, zero));
    const double copies = zero == 0 ? all : zero == 3 ? 0 : all * 2 / 14;
    EXPECT_EQ(held.bytes(0), copies + (all - copies) / 4) << zero;
    EXPECT_EQ(held.shared_bytes(held)[0][1], copies) << zero;
    EXPECT_EQ(held.missing_bytes(all_but(4, 2)), (all - copies) / 4) << zero;
  }
}

// Of four replicas, two and two have the states together: each rank has a copy elsewhere.
TEST(HeldStates, RanksThatShareStatesInPartHaveCopiesInTheOthers) {
  StrategyPlan plan = plan_of(1, 1, 4, 3);
  plan.shard = 2;
  const HeldStates held(four_layers(), plan);
  EXPECT_EQ(held.bytes(0), 2 * kLayer);
  EXPECT_EQ(held.shared_bytes(held)[0], (std::vector<double>{2 * kLayer, 0, 2 * kLayer, 0}));
  EXPECT_EQ(held.missing_bytes(all_but(4, 0)), 0);
  EXPECT_EQ(held.missing_bytes(std::vector<std::int64_t>{0, 2}), 2 * kLayer);
}

TEST(HeldStates, ChunksOfAStageAreApart) {
  StrategyPlan interleaved = plan_of(2, 1, 1, 0);
  interleaved.v = 2;
  const HeldStates held(four_layers(), interleaved);  // layers 0 and 2, 1 and 3
  const auto shared = held.shared_bytes(HeldStates(four_layers(), plan_of(2, 1, 1, 0)));
  EXPECT_EQ(shared[0], (std::vector<double>{kLayer, kLayer}));
}

// Six layers with embedding and head are eight: two in each of four chunks.
TEST(HeldStates, AChunkMayHaveTheEmbeddingForALayer) {
  StrategyInstance wanted = four_layers();
  wanted.model.blocks[0].count = 6;
  StrategyPlan interleaved = plan_of(2, 1, 1, 0);
  interleaved.v = 2;
  interleaved.stages[0].layers = interleaved.stages[1].layers = 3;  // 0, 3, 4 and 1, 2, 5
  StrategyPlan halves = interleaved;
  halves.v = 1;
  const auto shared = HeldStates(wanted, interleaved).shared_bytes(HeldStates(wanted, halves));
  EXPECT_EQ(shared[0], (std::vector<double>{kLayer, 2 * kLayer}));
  EXPECT_EQ(shared[1], (std::vector<double>{2 * kLayer, kLayer}));
}

TEST(HeldStates, TiedMatricesAreTheSame) {
  StrategyInstance wanted = four_layers();
  wanted.model.vocabulary = 100;
  const double matrix = 100.0 * 64 * 14;
  const HeldStates apart(wanted, plan_of(2, 1, 1, 0));
  EXPECT_EQ(apart.shared_bytes(apart)[0][1], 0);
  EXPECT_EQ(apart.missing_bytes(all_but(2, 1)), 2 * kLayer + matrix);
  wanted.model.tied = true;
  const HeldStates tied(wanted, plan_of(2, 1, 1, 0));
  EXPECT_EQ(tied.shared_bytes(tied)[0][1], matrix);
  EXPECT_EQ(tied.missing_bytes(all_but(2, 1)), 2 * kLayer);
}

TEST(HeldStates, ExpertsAreSharedByRanks) {
  StrategyInstance wanted = four_layers();
  wanted.model.blocks = {{.count = 1, .ffn = 0, .experts = StrategyExperts{4, 1, 32}}};
  const StrategyLayer layer = layer_of(wanted.model, wanted.model.blocks.front());
  StrategyPlan plan = plan_of(1, 2, 4, 3, 1);
  const HeldStates whole(wanted, plan);
  plan.ep = 2;
  const HeldStates shared(wanted, plan);
  const double state = 14 * (layer.shared + layer.experts) / 8;
  EXPECT_EQ(whole.bytes(0), state);
  EXPECT_EQ(shared.bytes(0), state);
  // All four experts' first of four parts, or two experts' first of two.
  EXPECT_EQ(shared.shared_bytes(whole)[0][0],
            14 * layer.shared / 8 + 14 * layer.experts / 2 / 4 / 2);
  for (const HeldStates* held : {&whole, &shared}) {
    EXPECT_EQ(held->missing_bytes(all_but(8, 5)), state);
    EXPECT_EQ(held->missing_bytes({}), 8 * state);
  }
}

}  // namespace
}  // namespace stowage::strategy_held_states_test
