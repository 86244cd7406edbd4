// The seam between a block and its attention: the one step in which a token needs the others.
//
// Everything else in a transformer block works on a token alone, so a rank that holds a slice of
// the tokens computes it without asking anyone. Attention on one rank (LocalAttention, here) and
// attention exchanged over ranks (UlyssesAttention, ulysses.h) look the same to the block.
//
//   LocalAttention attention(shape);
//   attention.forward(q, k, v, o);
//   attention.backward(upstream, dq, dk, dv);   // of the last forward
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/attention.h"
#include "kernels/attention_shape.h"

namespace stowage::kernels {

class AttentionStage {
 public:
  AttentionStage() = default;
  AttentionStage(const AttentionStage&) = delete;
  AttentionStage& operator=(const AttentionStage&) = delete;
  virtual ~AttentionStage() = default;

  // q, o (n, heads, head_dim); k, v (n, kv_heads, head_dim) for the n tokens of this rank.
  virtual void forward(std::span<const float> q, std::span<const float> k, std::span<const float> v,
                       std::span<float> o) = 0;
  // Gradients of sum(o * upstream), shaped like q, k and v; written, not added.
  virtual void backward(std::span<const float> upstream, std::span<float> dq, std::span<float> dk,
                        std::span<float> dv) = 0;
};

// All tokens and all heads on this rank. The spans in `shape` must outlive the stage.
class LocalAttention final : public AttentionStage {
 public:
  explicit LocalAttention(const AttentionShape& shape);

  void forward(std::span<const float> q, std::span<const float> k, std::span<const float> v,
               std::span<float> o) override;
  void backward(std::span<const float> upstream, std::span<float> dq, std::span<float> dk,
                std::span<float> dv) override;

 private:
  AttentionShape shape_;
  std::vector<float> q_, k_, v_, o_, lse_, workspace_;  // what backward needs of forward
};

}  // namespace stowage::kernels
