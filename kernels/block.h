// One Llama-style transformer block in FP32, forward and backward, over this rank's tokens.
//
//   LocalAttention attention(attention_shape);
//   BlockPass pass(shape, sequence_positions(cu, tokens));
//   pass.forward(weights, x, attention, y);
//   pass.backward(weights, upstream, attention, dx, gradient);   // adds to gradient
//
// The formula is in block_weights.h. A BlockPass owns the activations between the two passes, all
// allocated in its constructor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/attention_stage.h"
#include "kernels/block_weights.h"
#include "kernels/rotary.h"

namespace stowage::kernels {

class BlockPass {
 public:
  // `positions`: the place of each of this rank's tokens in its sequence. check(shape) must pass.
  BlockPass(const BlockShape& shape, std::span<const std::int32_t> positions);

  std::int64_t tokens() const { return rotary_.tokens(); }

  // x, y (tokens, hidden), which must not overlap.
  void forward(const BlockWeights<float>& weights, std::span<const float> x,
               AttentionStage& attention, std::span<float> y);

  // The gradient of sum(y * upstream) of the last forward: writes dx (tokens, hidden), adds the
  // weight gradients of this rank's tokens to `gradient`.
  void backward(const BlockWeights<float>& weights, std::span<const float> upstream,
                AttentionStage& attention, std::span<float> dx, BlockWeights<float>& gradient);

 private:
  BlockShape shape_;
  RotaryTable rotary_;
  // Activations, named after the formula; each d... is the gradient of its namesake.
  std::vector<float> x_, x_norm_, x_inverse_rms_, q_, k_, v_, o_;
  std::vector<float> a_, a_norm_, a_inverse_rms_, gate_, up_, product_;
  std::vector<float> da_, dnorm_, do_, dq_, dk_, dv_, dgate_, dup_, dproduct_;
};

}  // namespace stowage::kernels
