// One Llama-style transformer block in FP32, forward and backward, over this rank's tokens.
//
//   LocalAttention attention(attention_shape);
//   BlockPass pass(shape, sequence_positions(cu, tokens), attention);
//   pass.forward(weights, x, y);
//   pass.backward(weights, upstream, dx, gradient);   // adds to gradient
//
// The formula is in block_weights.h, its operations in program/block_program.h. A BlockPass owns
// the activations between the two passes, all allocated in its constructor.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/attention/attention_stage.h"
#include "kernels/block/block_weights.h"
#include "kernels/block/operation/rotary.h"
#include "kernels/block/program/block_program.h"

namespace stowage::kernels {

// Returns the shape of the attention of a block over `tokens` rows, whose sequences cu_seqlens
// delimits. The spans refer to cu_seqlens.
inline AttentionShape attention_shape(const BlockShape& block, std::int64_t tokens,
                                      std::span<const std::int32_t> cu_seqlens) {
  return {.total_q = tokens,
          .total_k = tokens,
          .heads = block.heads,
          .kv_heads = block.kv_heads,
          .head_dim = block.head_dim,
          .cu_q = cu_seqlens,
          .cu_k = cu_seqlens,
          .value_dim = block.value_dim,
          .window = block.window};
}

class BlockPass {
 public:
  // `positions` holds the position of each of this rank's tokens in its sequence. check(shape) must
  // pass, and `attention` must outlive this object.
  BlockPass(const BlockShape& shape, std::span<const std::int32_t> positions,
            AttentionStage& attention)
      : rotary_(positions, shape.head_dim, shape.rope_theta),
        attention_(attention),
        program_(shape, rotary_.tokens(), 1, attention.memory()),
        tensors_(program_.tensors()) {}

  // x, y (tokens, hidden), which must not overlap.
  void forward(const BlockWeights<float>& weights, std::span<const float> x, std::span<float> y) {
    program_.run(program_.forward_steps(), tensors_,
                 {.rotary = rotary_,
                  .attention = attention_,
                  .weights = {&weights, 1},
                  .gradients = {},
                  .x = x,
                  .upstream = {},
                  .y = y,
                  .dx = {}});
  }

  // Computes the gradient of sum(y * upstream) of the last forward pass: writes dx (tokens, hidden)
  // and adds the weight gradients of this rank's tokens to `gradient`.
  void backward(const BlockWeights<float>& weights, std::span<const float> upstream,
                std::span<float> dx, BlockWeights<float>& gradient) {
    program_.run(program_.backward_steps(), tensors_,
                 {.rotary = rotary_,
                  .attention = attention_,
                  .weights = {&weights, 1},
                  .gradients = {&gradient, 1},
                  .x = {},
                  .upstream = upstream,
                  .y = {},
                  .dx = dx});
  }

 private:
  RotaryTable rotary_;
  AttentionStage& attention_;
  BlockProgram program_;
  SeparateTensors tensors_;
};

}  // namespace stowage::kernels
