// Attention of a long sequence chunk by chunk (ChunkFlow, arXiv 2503.02356, section 4.2).
//
// A chunk's queries see the retained keys and values of the chunks before it and its own: the
// causal mask is aligned to the bottom right, so that nothing else changes. Chunks go forward in
// order and backward in reverse; what a chunk contributes to the gradients of earlier keys
// accumulates beside them until their own chunk's turn comes.
//
//   RetainedKeys retained(length, shape, KvGradients::per_kv_head);
//   RetainedAttention first(retained, shape_of_first, 0), second(retained, shape_of_second, 512);
//   first.forward(...); second.forward(...); second.backward(...); first.backward(...);
//
// O and dQ have the bits of the whole sequence at once, since a query meets the same key blocks in
// the same order. dK and dV are sums over queries, which the chunks group otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/attention/attention_stage.h"

namespace stowage::kernels {

struct KeyArrays;  // attention/attention_units.h

// Keys and values of one sequence and the sums of their gradients, all with their heads outside:
// (kv_heads, length, head_dim). A chunk brings its own; those before it stay as the kernels read
// and write them, so that no chunk copies, transposes or adds up the whole prefix again.
class RetainedKeys {
 public:
  // Heads, head_dim and grouping are those of `shape`.
  RetainedKeys(std::int64_t length, const AttentionShape& shape, KvGradients gradients);

 private:
  friend class RetainedAttention;
  void put(std::int64_t begin, std::int64_t end, std::span<const float> k,
           std::span<const float> v);

  KeyArrays keys(const std::vector<float>& k_lanes) const;

  std::int64_t length_;
  int kv_heads_, sum_heads_, dim_;  // sum_heads_: of the gradients
  KvGradients mode_;
  std::vector<float> k_, v_;
  std::int64_t lanes_head_;                                 // floats of a kv head below
  std::vector<float> k_forward_, k_backward_, v_backward_;  // packed in the passes' tiles
  std::vector<float> dk_, dv_;                              // running sums
};

class RetainedAttention final : public AttentionStage {
 public:
  // The chunk is tokens [begin, begin + chunk.total_q) of the sequence; chunk.cu_q and cu_k are not
  // looked at. `retained` must outlive the stage. Going forward once more (activations that were
  // thrown away) is allowed until the chunk went backward.
  RetainedAttention(RetainedKeys& retained, const AttentionShape& chunk, std::int64_t begin);

  AttentionMemory memory() const override;
  void forward(std::span<const float> q, std::span<const float> k, std::span<const float> v,
               const StageOutput& output, std::span<float> scratch) override;
  // Requires that all later chunks have gone backward.
  void backward(const AttentionBackwardInput& input, std::span<float> dq, std::span<float> dk,
                std::span<float> dv, std::span<float> scratch) override;

 private:
  AttentionShape shape() const;  // with spans into this object

  RetainedKeys& retained_;
  AttentionShape chunk_;
  std::int64_t begin_, end_;
  std::array<std::int32_t, 2> cu_q_, cu_k_;
};

}  // namespace stowage::kernels
