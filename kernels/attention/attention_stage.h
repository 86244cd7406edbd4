// The interface between a transformer block and its attention, the only step of a block in which a
// token reads other tokens.
//
// All other steps of a block process each token alone, so a rank that holds a slice of the tokens
// computes them without communication. The implementations are attention on one rank
// (LocalAttention, below), attention over several ranks (exchange/ulysses.h, exchange/ring.h) and
// attention over retained keys (exchange/retained_attention.h). The block provides the memory that
// the stage requests. Attention over ranks may use any other stage for its local part.
//
//   LocalAttention attention(shape);
//   std::vector<float> sums(attention.memory().sums), scratch(...);
//   attention.forward(q, k, v, {.o = o, .sums = sums}, scratch);
//   attention.backward({.q = q, .k = k, .v = v, .o = o, .lse = sums, .upstream = upstream},
//                      dq, dk, dv, scratch);
#pragma once

#include <cstdint>
#include <span>

#include "kernels/attention/attention.h"

namespace stowage::kernels {

// The memory that the caller must provide to a stage, in floats.
struct AttentionMemory {
  std::int64_t sums = 0;              // kept from forward to backward, in addition to q, k, v and o
  std::int64_t forward_scratch = 0;   // during forward
  std::int64_t backward_scratch = 0;  // during backward
};

// The arrays that forward writes; `sums` is the lse of attention.h.
struct StageOutput {
  std::span<float> o, sums;
};

class AttentionStage {
 public:
  AttentionStage() = default;
  AttentionStage(const AttentionStage&) = delete;
  AttentionStage& operator=(const AttentionStage&) = delete;
  virtual ~AttentionStage() = default;

  virtual AttentionMemory memory() const = 0;

  // q, o (n, heads, head_dim); k, v (n, kv_heads, head_dim) for the n tokens of this rank.
  virtual void forward(std::span<const float> q, std::span<const float> k, std::span<const float> v,
                       const StageOutput& output, std::span<float> scratch) = 0;
  // Writes (does not add) the gradients of sum(o * upstream), shaped like q, k and v. KvGradients
  // gives the shape of dk and dv if the stage supports both. `input` holds the inputs and outputs
  // of the last forward.
  virtual void backward(const AttentionBackwardInput& input, std::span<float> dq,
                        std::span<float> dk, std::span<float> dv, std::span<float> scratch) = 0;
};

// Attention over all tokens and all heads on this rank. The stage keeps no data between the passes.
// The spans in `shape` must outlive the stage.
class LocalAttention final : public AttentionStage {
 public:
  explicit LocalAttention(const AttentionShape& shape, KvGradients mode = KvGradients::per_kv_head)
      : shape_(shape), mode_(mode) {}

  // Returns the memory of any stage of this shape. The scratch follows the longest sequence of
  // cu_k, or total_k if cu_k is empty.
  static AttentionMemory memory_of(const AttentionShape& shape);

  AttentionMemory memory() const override { return memory_of(shape_); }
  void forward(std::span<const float> q, std::span<const float> k, std::span<const float> v,
               const StageOutput& output, std::span<float> scratch) override;
  void backward(const AttentionBackwardInput& input, std::span<float> dq, std::span<float> dk,
                std::span<float> dv, std::span<float> scratch) override;

 private:
  AttentionShape shape_;
  KvGradients mode_;
};

}  // namespace stowage::kernels
