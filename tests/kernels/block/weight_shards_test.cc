#include "kernels/block/weight_shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/block/block.h"
#include "kernels/block/block_reference.h"
#include "kernels/block/relative_error.h"
#include "kernels/block/synthetic.h"
#include "kernels/ranks/thread_ranks.h"
#include "tests/kernels/numbers.h"

namespace stowage::kernels::block_weight_shards_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const BlockShape kShape{.hidden = 20, .heads = 8, .kv_heads = 2, .head_dim = 6, .ffn = 24};

TEST(WeightShards, PartsMakeTheWhole) {
  const BlockWeights<float> whole = synthetic_weights(kShape, 4);
  for (const int ranks : {1, 2, 4, 8}) {
    ASSERT_THAT(check_shards(kShape, ranks), IsEmpty());
    BlockWeights<float> again = zero_weights<float>(kShape);
    for (int rank = 0; rank < ranks; ++rank) {
      const BlockWeights<float> part = shard_weights(kShape, whole, ranks, rank);
      const auto sizes = weight_sizes(shard_shape(kShape, ranks));
      for (int t = 0; t < kWeightTensors; ++t) EXPECT_EQ(std::ssize(*part.tensors()[t]), sizes[t]);
      put_shard(kShape, ranks, rank, part, again);
    }
    for (int t = 0; t < kWeightTensors; ++t) {
      EXPECT_EQ(*again.tensors()[t], *whole.tensors()[t]) << kWeightNames[t] << " of " << ranks;
    }
  }
}

TEST(WeightShards, WhatDoesNotDivideIsSaid) {
  EXPECT_THAT(check_shards(kShape, 3), Contains(HasSubstr("heads, 8")));
  EXPECT_THAT(check_shards({.heads = 16, .kv_heads = 16, .ffn = 6}, 4),
              Contains(HasSubstr("ffn, 6")));
  EXPECT_THAT(check_shards({.heads = 12, .kv_heads = 6, .ffn = 16}, 4),
              Contains(HasSubstr("kv_heads or be divided by them, 6")));
  EXPECT_THAT(check_shards(kShape, 0), Contains(HasSubstr("one or more")));
}

// Ranks share the products of a block, also with more ranks than kv heads.
TEST(WeightShards, ASharedBlockEqualsTheReference) {
  const std::vector<std::int32_t> cu = prefix_sums({17, 1, 30});
  const std::int64_t tokens = cu.back();
  const std::vector<float> x = normal_values(tokens * kShape.hidden, 1);
  const std::vector<float> upstream = normal_values(tokens * kShape.hidden, 2);
  const BlockWeights<float> whole = synthetic_weights(kShape, 4);
  const BlockResult want = block_reference(kShape, widen(whole), cu, widen(x), widen(upstream));
  for (const int ranks : {1, 2, 4, 8}) {
    for (const BlockKeeps keeps : {BlockKeeps::all, BlockKeeps::products}) {
      SCOPED_TRACE(ranks);
      const BlockShape part = shard_shape(kShape, ranks);
      std::vector<std::vector<float>> y(ranks), dx(ranks);
      std::vector<BlockWeights<float>> gradients(ranks);
      const auto error = run_ranks(ranks, [&](Communicator& world) {
        const int me = world.rank();
        const auto copies = world.split(me / kv_copies(kShape, ranks));
        const BlockWeights<float> mine = shard_weights(kShape, whole, ranks, me);
        LocalAttention attention({.total_q = tokens,
                                  .total_k = tokens,
                                  .heads = part.heads,
                                  .kv_heads = part.kv_heads,
                                  .head_dim = part.head_dim,
                                  .cu_q = cu,
                                  .cu_k = cu});
        const RotaryTable rotary(sequence_positions(cu, tokens), part.head_dim, part.rope_theta);
        const BlockProgram program(part, tokens, 1, attention.memory(), keeps);
        SeparateTensors tensors(program.tensors());
        y[me].resize(x.size());
        dx[me].resize(x.size());
        gradients[me] = zero_weights<float>(part);
        program.run(program.all_steps(), tensors,
                    {.rotary = rotary,
                     .attention = attention,
                     .weights = {&mine, 1},
                     .gradients = {&gradients[me], 1},
                     .x = x,
                     .upstream = upstream,
                     .y = y[me],
                     .dx = dx[me],
                     .peers = &world});
        copies->all_reduce(gradients[me].key);
        copies->all_reduce(gradients[me].value);
      });
      ASSERT_FALSE(error) << error->message;
      BlockWeights<float> gradient = zero_weights<float>(kShape);
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(y[rank], y[0]);
        EXPECT_EQ(dx[rank], dx[0]);
        EXPECT_EQ(gradients[rank].ffn_norm, gradients[0].ffn_norm);
        put_shard(kShape, ranks, rank, gradients[rank], gradient);
      }
      EXPECT_LE(relative_l2(y[0], want.y), 2e-6);
      EXPECT_LE(relative_l2(dx[0], want.dx), 5e-6);
      for (int t = 0; t < kWeightTensors; ++t) {
        EXPECT_LE(relative_l2(*gradient.tensors()[t], *want.gradient.tensors()[t]), 5e-6)
            << kWeightNames[t];
      }
    }
  }
}

// Recomputed tensors have the same bits, and fewer tensors wait for the backward pass.
TEST(BlockKeeps, ProductsGiveTheSameBits) {
  const std::vector<std::int32_t> cu = prefix_sums({17, 1, 30});
  const std::int64_t tokens = cu.back();
  const std::vector<float> x = normal_values(tokens * kShape.hidden, 1);
  const BlockWeights<float> weights = synthetic_weights(kShape, 4);
  LocalAttention attention({.total_q = tokens,
                            .total_k = tokens,
                            .heads = kShape.heads,
                            .kv_heads = kShape.kv_heads,
                            .head_dim = kShape.head_dim,
                            .cu_q = cu,
                            .cu_k = cu});
  const RotaryTable rotary(sequence_positions(cu, tokens), kShape.head_dim, kShape.rope_theta);
  struct Result {
    std::vector<float> y, dx;
    BlockWeights<float> gradient;
    std::int64_t waiting = 0;
  };
  const auto run = [&](BlockKeeps keeps) {
    const BlockProgram program(kShape, tokens, 2, attention.memory(), keeps);
    SeparateTensors tensors(program.tensors());
    Result result{.y = std::vector<float>(x.size()), .dx = std::vector<float>(x.size())};
    const std::vector<BlockWeights<float>> both = {weights, weights};
    std::vector<BlockWeights<float>> gradients(2, zero_weights<float>(kShape));
    program.run(program.all_steps(), tensors,
                {.rotary = rotary,
                 .attention = attention,
                 .weights = both,
                 .gradients = gradients,
                 .x = x,
                 .upstream = x,
                 .y = result.y,
                 .dx = result.dx});
    result.gradient = gradients[0];
    const int first = program.backward_steps().begin;
    for (const Tensor& tensor : program.tensors()) {
      if (tensor.first < first && tensor.last >= first) result.waiting += tensor.floats;
    }
    return result;
  };
  const Result all = run(BlockKeeps::all), products = run(BlockKeeps::products);
  EXPECT_EQ(all.y, products.y);
  EXPECT_EQ(all.dx, products.dx);
  for (int t = 0; t < kWeightTensors; ++t) {
    EXPECT_EQ(*all.gradient.tensors()[t], *products.gradient.tensors()[t]) << kWeightNames[t];
  }
  // The outputs of two norms and of SwiGLU in each layer.
  EXPECT_EQ(all.waiting - products.waiting, 2 * tokens * (2 * (kShape.hidden + 1) + kShape.ffn));
}

}  // namespace
}  // namespace stowage::kernels::block_weight_shards_test
