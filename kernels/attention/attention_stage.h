// The seam between a block and its attention: the one step in which a token needs the others.
//
// Everything else in a transformer block works on a token alone, so a rank that holds a slice of
// the tokens computes it without asking anyone. Attention on one rank (LocalAttention, here),
// exchanged over ranks (exchange/ulysses.h, exchange/ring.h) and over retained keys
// (exchange/retained_attention.h) look the same to the block, which lends them the memory they ask
// for, and to each other: attention over ranks may do its own part by any of them.
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

// What a stage wants from its caller, in floats.
struct AttentionMemory {
  std::int64_t sums = 0;              // from forward to backward, beside q, k, v and o
  std::int64_t forward_scratch = 0;   // during forward
  std::int64_t backward_scratch = 0;  // during backward
};

// What forward writes; `sums` is the lse of attention.h.
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
  // Gradients of sum(o * upstream), shaped like q, k and v (dk and dv as KvGradients says, where a
  // stage has a choice); written, not added. `input` holds what the last forward read and wrote.
  virtual void backward(const AttentionBackwardInput& input, std::span<float> dq,
                        std::span<float> dk, std::span<float> dv, std::span<float> scratch) = 0;
};

// All tokens and all heads on this rank. Keeps nothing of its own between the passes. The spans in
// `shape` must outlive the stage.
class LocalAttention final : public AttentionStage {
 public:
  explicit LocalAttention(const AttentionShape& shape, KvGradients mode = KvGradients::per_kv_head)
      : shape_(shape), mode_(mode) {}

  // Of any stage of that shape; the entries of cu_q and cu_k do not matter.
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
