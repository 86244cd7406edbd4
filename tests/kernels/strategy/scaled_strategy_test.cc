#include "kernels/strategy/scaled_strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace stowage::kernels::strategy_scaled_strategy_test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

StrategyInstance llama() {
  StrategyInstance instance{.model = {.hidden = 4096,
                                      .heads = 32,
                                      .kv_width = 1024,
                                      .blocks = {{.count = 32, .ffn = 14336}}},
                            .cluster = {.nodes = 1, .devices_per_node = 8, .memory_mib = 73728}};
  for (int i = 0; i < 16; ++i) instance.lengths.push_back(1000 + 500 * i);
  return instance;
}

StrategyPlan four_stages() {
  StrategyPlan plan{.pp = 4, .micro_batches = 8, .tp = 2};
  for (const std::int64_t layers : {7, 9, 9, 7}) {
    plan.stages.push_back({.layers = layers, .zero = 1});
  }
  plan.stages[0].recompute = StrategyRecompute::full;
  return plan;
}

TEST(ScaledStrategy, KeepsTheClassAndTheProportions) {
  const ScaledStrategy scaled = scale_strategy(llama(), four_stages(), {.seed = 5});
  EXPECT_THAT(scaled.problems, IsEmpty());
  const StrategyTask& task = scaled.task;
  EXPECT_EQ(task.ranks(), 8);
  EXPECT_EQ(task.micro_batches(), 8);
  EXPECT_EQ(scaled.layer_scale, 3);
  EXPECT_THAT(task.layers, ElementsAre(3, 3, 3, 3));
  EXPECT_EQ(task.recompute.front(), StrategyRecompute::full);
  EXPECT_EQ(task.recompute.back(), StrategyRecompute::none);
  EXPECT_EQ(task.block.hidden, 64);
  EXPECT_EQ(task.block.heads, 4);
  EXPECT_EQ(task.block.kv_heads, 1);
  EXPECT_EQ(task.block.ffn, 224);  // 3.5 times as wide
  EXPECT_EQ(task.seed, 5U);
  EXPECT_LE(scaled.work_flop, 1e10);
  EXPECT_GT(scale_strategy(llama(), four_stages(), {.scale = scaled.scale - 1}).work_flop, 1e10);
}

TEST(ScaledStrategy, ManyRanksGetNarrowHeads) {
  StrategyPlan plan = four_stages();
  plan.pp = 1;
  plan.stages.resize(1);
  plan.stages[0].layers = 32;
  plan.tp = 1;
  plan.cp = 64;
  plan.micro_batches = 1;
  const ScaledStrategy scaled = scale_strategy(llama(), plan, {});
  EXPECT_THAT(scaled.problems, IsEmpty());
  EXPECT_EQ(scaled.task.block.heads, 64);
  EXPECT_EQ(scaled.task.block.head_dim, 2);
  EXPECT_THAT(scaled.task.layers, ElementsAre(8));
  plan.cp = 512;
  EXPECT_THAT(scale_strategy(llama(), plan, {}).problems,
              ElementsAre(HasSubstr("run a plan of fewer ranks")));
}

TEST(ScaledStrategy, StreamChunksAreSaidNotToBeExecuted) {
  StrategyPlan plan = four_stages();
  EXPECT_THAT(scale_strategy(llama(), plan, {}).notes, Not(Contains(HasSubstr("stream chunks"))));
  plan.stages[0].stream_chunks = 2;
  EXPECT_THAT(scale_strategy(llama(), plan, {}).notes, Contains(HasSubstr("stream chunks")));
}

TEST(ScaledStrategy, WorkThatCannotBeLessIsSaid) {
  const ScaledStrategy scaled = scale_strategy(llama(), four_stages(), {.max_work_flop = 1});
  EXPECT_THAT(scaled.problems, IsEmpty());
  EXPECT_THAT(scaled.task.lengths, Each(1));
  EXPECT_THAT(scaled.notes, Contains(HasSubstr("above the wanted 1e-09 GFLOP")));
}

TEST(ScaledStrategy, ChunksOfUnequalStagesStay) {
  StrategyPlan plan = four_stages();
  plan.v = 2;
  plan.stages[0].layers = 4;
  plan.stages[1].layers = 12;
  plan.stages[2].layers = plan.stages[3].layers = 8;
  const ScaledStrategy scaled = scale_strategy(llama(), plan, {});
  EXPECT_THAT(scaled.problems, IsEmpty());
  EXPECT_EQ(scaled.layer_scale, 2);
  EXPECT_THAT(scaled.task.layers, ElementsAre(2, 6, 4, 4));
}

TEST(ScaledStrategy, RowsHaveAsManyAndAboutAsLongSequences) {
  StrategyPlan plan = four_stages();
  plan.pp = 1;
  plan.stages.resize(1);
  plan.stages[0].layers = 32;
  plan.dp = 4;
  plan.micro_batches = 2;
  const ScaledStrategy scaled = scale_strategy(llama(), plan, {.scale = 1});
  EXPECT_THAT(scaled.problems, IsEmpty());
  for (const auto& replicas : scaled.task.rows) {
    for (const auto& row : replicas) {
      EXPECT_EQ(row.size(), 2U);
      EXPECT_EQ(scaled.task.lengths[row[0]] + scaled.task.lengths[row[1]], 9500);
    }
  }
}

TEST(ScaledStrategy, KeysAreSharedAsRanksAllow) {
  StrategyPlan plan = four_stages();
  for (const auto& [tp, cp, kv_width, heads, kv_heads] :
       std::vector<std::array<std::int64_t, 5>>{{1, 1, 4096, 4, 4},
                                                {2, 1, 2048, 4, 2},
                                                {8, 1, 4096, 8, 8},
                                                {8, 1, 1024, 8, 2},
                                                {3, 2, 2048, 6, 3},
                                                {4, 3, 2048, 12, 4},
                                                {2, 1, 1, 4, 1}}) {
    StrategyInstance instance = llama();
    instance.model.kv_width = kv_width;
    plan.tp = tp;
    plan.cp = cp;
    const ScaledStrategy scaled = scale_strategy(instance, plan, {});
    EXPECT_THAT(scaled.problems, IsEmpty());
    EXPECT_EQ(scaled.task.block.heads, heads);
    EXPECT_EQ(scaled.task.block.kv_heads, kv_heads) << tp << ' ' << cp << ' ' << kv_width;
  }
}

TEST(ScaledStrategy, WhatIsNotExecutedIsSaid) {
  EXPECT_THAT(scale_strategy(llama(), four_stages(), {}).notes,
              ElementsAre(HasSubstr("without sequence parallelism")));
  StrategyInstance instance = llama();
  instance.model.vocabulary = 1000;
  instance.model.causal = false;
  instance.model.sequence_parallel = false;
  instance.model.blocks.push_back({.count = 1, .ffn = 64, .gated = false});
  instance.model.blocks.push_back(
      {.count = 1, .ffn = 0, .experts = StrategyExperts{.count = 8, .top_k = 2, .ffn = 512}});
  StrategyPlan plan = four_stages();
  plan.stages[1].zero = 3;
  const std::vector<std::string> notes = scale_strategy(instance, plan, {}).notes;
  EXPECT_EQ(notes.size(), 6U);
  for (const char* what : {"embedding", "experts", "mean width", "gate", "causal", "ZeRO"}) {
    EXPECT_THAT(notes, Contains(HasSubstr(what)));
  }
}

TEST(ScaledStrategy, WhatIsTooLargeIsAProblem) {
  StrategyPlan plan = four_stages();
  plan.dp = 1000;
  EXPECT_THAT(scale_strategy(llama(), plan, {}).problems, ElementsAre(HasSubstr("1 024 ranks")));
  plan.dp = 1;
  plan.micro_batches = 1 << 19;
  EXPECT_THAT(scale_strategy(llama(), plan, {}).problems, ElementsAre(HasSubstr("passes")));
  StrategyInstance instance = llama();
  instance.lengths.assign(16, 1 << 24);
  EXPECT_THAT(scale_strategy(instance, four_stages(), {.scale = 1}).problems,
              Contains(HasSubstr("too long")));
}

}  // namespace
}  // namespace stowage::kernels::strategy_scaled_strategy_test
