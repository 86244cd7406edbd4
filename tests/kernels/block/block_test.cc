#include "kernels/block/block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/block/block_reference.h"
#include "kernels/block/operation/rms_norm.h"
#include "kernels/block/operation/swiglu.h"
#include "kernels/block/relative_error.h"
#include "tests/kernels/numbers.h"

namespace stowage::kernels::block_block_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Every gradient of the reference block against central differences of its own forward pass.
TEST(BlockReference, GradientsMatchFiniteDifferences) {
  const BlockShape shape{.hidden = 6, .heads = 4, .kv_heads = 2, .head_dim = 4, .ffn = 5};
  const std::vector<std::int32_t> cu = {0, 3, 3, 7};
  BlockWeights<double> weights = widen(synthetic_weights(shape, 1));
  std::vector<double> x = widen(normal_values(7 * 6, 1));
  const std::vector<double> upstream = widen(normal_values(7 * 6, 2));
  const auto loss = [&] {
    const std::vector<double> y = block_reference(shape, weights, cu, x, upstream).y;
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * upstream[i];
    return sum;
  };
  const BlockResult result = block_reference(shape, weights, cu, x, upstream);
  const auto compare = [&](std::vector<double>& values, const std::vector<double>& want) {
    constexpr double kStep = 1e-5;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double was = values[i];
      values[i] = was + kStep;
      const double above = loss();
      values[i] = was - kStep;
      const double below = loss();
      values[i] = was;
      EXPECT_NEAR((above - below) / (2 * kStep), want[i], 2e-7 * std::max(1.0, std::abs(want[i])));
    }
  };
  compare(x, result.dx);
  for (int t = 0; t < kWeightTensors; ++t) {
    SCOPED_TRACE(kWeightNames[t]);
    compare(*weights.tensors()[t], *result.gradient.tensors()[t]);
  }
}

struct BlockCase {
  BlockShape shape;
  std::vector<int> lengths;
};

TEST(Block, MatchesTheReference) {
  const std::vector<BlockCase> cases = {
      {.shape = {}, .lengths = {65, 1, 130}},
      {.shape = {.hidden = 48, .heads = 6, .kv_heads = 3, .head_dim = 10, .ffn = 70},
       .lengths = {33, 0, 20}},
      {.shape = {.hidden = 128, .heads = 4, .kv_heads = 4, .head_dim = 32, .ffn = 300},
       .lengths = {90}},
      {.shape = {.hidden = 7, .heads = 1, .kv_heads = 1, .head_dim = 2, .ffn = 3}, .lengths = {5}},
  };
  for (const BlockCase& c : cases) {
    SCOPED_TRACE(c.shape.hidden);
    const std::vector<std::int32_t> cu = prefix_sums(c.lengths);
    const std::int64_t n = cu.back();
    const BlockWeights<float> weights = synthetic_weights(c.shape, 3);
    const std::vector<float> x = normal_values(n * c.shape.hidden, 1);
    const std::vector<float> upstream = normal_values(n * c.shape.hidden, 2);
    std::vector<float> y(x.size()), dx(x.size());
    BlockWeights<float> gradient = zero_weights<float>(c.shape);
    LocalAttention attention({.total_q = n,
                              .total_k = n,
                              .heads = c.shape.heads,
                              .kv_heads = c.shape.kv_heads,
                              .head_dim = c.shape.head_dim,
                              .cu_q = cu,
                              .cu_k = cu});
    BlockPass pass(c.shape, sequence_positions(cu, n), attention);
    pass.forward(weights, x, y);
    pass.backward(weights, upstream, dx, gradient);

    const BlockResult want =
        block_reference(c.shape, widen(weights), cu, widen(x), widen(upstream));
    EXPECT_LE(relative_l2(y, want.y), 2e-6);
    EXPECT_LE(relative_l2(dx, want.dx), 5e-6);
    for (int t = 0; t < kWeightTensors; ++t) {
      EXPECT_LE(relative_l2(*gradient.tensors()[t], *want.gradient.tensors()[t]), 5e-6)
          << kWeightNames[t];
    }
  }
}

TEST(Block, BackwardAddsToTheWeightGradient) {
  const BlockShape shape{.hidden = 8, .heads = 2, .kv_heads = 1, .head_dim = 4, .ffn = 6};
  const std::vector<std::int32_t> cu = {0, 5};
  const BlockWeights<float> weights = synthetic_weights(shape, 3);
  const std::vector<float> x = normal_values(5 * 8, 1), upstream = normal_values(5 * 8, 2);
  std::vector<float> y(x.size()), dx(x.size());
  BlockWeights<float> once = zero_weights<float>(shape), twice = zero_weights<float>(shape);
  LocalAttention attention({.total_q = 5,
                            .total_k = 5,
                            .heads = 2,
                            .kv_heads = 1,
                            .head_dim = 4,
                            .cu_q = cu,
                            .cu_k = cu});
  BlockPass pass(shape, sequence_positions(cu, 5), attention);
  pass.forward(weights, x, y);
  pass.backward(weights, upstream, dx, once);
  pass.backward(weights, upstream, dx, twice);
  pass.backward(weights, upstream, dx, twice);
  for (int t = 0; t < kWeightTensors; ++t) {
    for (std::size_t i = 0; i < once.tensors()[t]->size(); ++i) {
      EXPECT_NEAR((*twice.tensors()[t])[i], 2 * (*once.tensors()[t])[i], 1e-4) << kWeightNames[t];
    }
  }
}

TEST(Block, ShapeProblemsAreNamed) {
  EXPECT_THAT(check(BlockShape{}), IsEmpty());
  EXPECT_THAT(check(BlockShape{.heads = 8, .kv_heads = 3}).at(0),
              HasSubstr("multiple of kv_heads"));
  EXPECT_THAT(check(BlockShape{.head_dim = 5}).at(0), HasSubstr("head_dim must be even"));
  EXPECT_THAT(check(BlockShape{.hidden = 0}).at(0), HasSubstr("hidden must be from 1"));
  EXPECT_THAT(check(BlockShape{.norm_epsilon = 0}).at(0), HasSubstr("norm_epsilon"));
}

TEST(Block, FlopCountFollowsTheConvention) {
  const BlockShape shape{.hidden = 2, .heads = 2, .kv_heads = 1, .head_dim = 4, .ffn = 3};
  // Matrices: 16 + 8 + 8 + 16 + 3 * 6 = 66 weights; 3 tokens see 6 pairs.
  EXPECT_DOUBLE_EQ(block_flop(shape, 3), 6 * 66 * 3 + 14 * 8 * 6);
}

TEST(RmsNorm, ByHand) {
  std::vector<float> x = {3, 4}, gain = {1, 2}, y(2), r(1);
  rms_norm_forward(1, 2, 1e-12, x, gain, y, r);
  const float rms = std::sqrt(12.5f);
  EXPECT_FLOAT_EQ(y[0], 3 / rms);
  EXPECT_FLOAT_EQ(y[1], 8 / rms);
}

TEST(Rotary, TurnsByThePositionAndBack) {
  const RotaryTable table(std::vector<std::int32_t>{0, 3}, 4, 10000);
  std::vector<float> x = {1, 0, 0, 1, 1, 0, 0, 1};
  rotate(table, 1, x, Turn::forward);
  EXPECT_EQ(x[0], 1);                     // position 0 does not turn
  EXPECT_FLOAT_EQ(x[4], std::cos(3.0f));  // channels 0 and 2 turn by 3
  EXPECT_FLOAT_EQ(x[6], std::sin(3.0f));
  EXPECT_FLOAT_EQ(x[5], -std::sin(0.03f));  // channels 1 and 3 by 3 / 100
  EXPECT_FLOAT_EQ(x[7], std::cos(0.03f));
  rotate(table, 1, x, Turn::backward);
  EXPECT_NEAR(x[4], 1, 1e-6);
  EXPECT_NEAR(x[6], 0, 1e-6);
}

TEST(Rotary, PositionsRestartWithEverySequence) {
  EXPECT_EQ(sequence_positions(std::vector<std::int32_t>{0, 2, 2, 5}, 6),
            (std::vector<std::int32_t>{0, 1, 0, 1, 2, 0}));
}

TEST(Swiglu, SaturatesWithoutNan) {
  const std::vector<float> gate = {-200, 200, 0}, up = {1, 1, 1}, dout = {1, 1, 1};
  std::vector<float> out(3), dgate(3), dup(3);
  swiglu_forward(gate, up, out);
  EXPECT_EQ(out, (std::vector<float>{0, 200, 0}));
  swiglu_backward(gate, up, dout, dgate, dup);
  EXPECT_EQ(dgate, (std::vector<float>{0, 1, 0.5}));
}

}  // namespace
}  // namespace stowage::kernels::block_block_test
