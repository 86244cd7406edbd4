// Attention of a long sequence chunk by chunk (ChunkFlow, arXiv 2503.02356, section 4.2).
//
// A chunk's queries see the retained keys and values of earlier chunks and the chunk's own. The
// causal mask is aligned to the bottom right, so the kernels need no change. Chunks run forward in
// order and backward in reverse order. The contributions of a chunk to the gradients of earlier
// keys are accumulated until the chunk of these keys runs backward.
//
//   RetainedKeys retained(length, shape, KvGradients::per_kv_head);
//   RetainedAttention first(retained, shape_of_first, 0), second(retained, shape_of_second, 512);
//   first.forward(...); second.forward(...); second.backward(...); first.backward(...);
//
// O and dQ have the same bits as for the whole sequence at once, since a query meets the same key
// blocks in the same order. dK and dV may differ by rounding: they are sums over queries, and
// chunks change the grouping of these sums.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/attention/attention_stage.h"

namespace stowage::kernels {

struct KeyArrays;  // defined in attention/attention_units.h

// Keys and values of one sequence and the sums of their gradients, in the layout (kv_heads, length,
// channels). Each chunk adds its own keys and values. Those of earlier chunks stay in the layout of
// the kernels, so no chunk copies, transposes or sums the whole prefix again.
class RetainedKeys {
 public:
  // heads, head_dim and grouping are taken from `shape`.
  RetainedKeys(std::int64_t length, const AttentionShape& shape, KvGradients gradients);

 private:
  friend class RetainedAttention;
  void put(std::int64_t begin, std::int64_t end, std::span<const float> k,
           std::span<const float> v);

  KeyArrays keys(const std::vector<float>& k_lanes) const;
  std::int64_t lanes_head(int dim) const;  // floats per kv head in the packed arrays

  std::int64_t length_;
  int kv_heads_, sum_heads_;  // sum_heads_: heads of the gradient sums
  int dim_, value_dim_;
  KvGradients mode_;
  std::vector<float> k_, v_;
  std::vector<float> k_forward_, k_backward_, v_backward_;  // packed in the tiles of the passes
  std::vector<float> dk_, dv_;                              // running sums
};

class RetainedAttention final : public AttentionStage {
 public:
  // The chunk is tokens [begin, begin + chunk.total_q) of the sequence; chunk.cu_q and cu_k are not
  // read. `retained` must outlive the stage. Until the chunk ran backward, forward() may be called
  // again, to recompute discarded activations.
  RetainedAttention(RetainedKeys& retained, const AttentionShape& chunk, std::int64_t begin);

  AttentionMemory memory() const override;
  void forward(std::span<const float> q, std::span<const float> k, std::span<const float> v,
               const StageOutput& output, std::span<float> scratch) override;
  // Requires that all later chunks have run backward.
  void backward(const AttentionBackwardInput& input, std::span<float> dq, std::span<float> dk,
                std::span<float> dv, std::span<float> scratch) override;

 private:
  AttentionShape shape() const;  // its spans refer to this object

  RetainedKeys& retained_;
  AttentionShape chunk_;
  std::int64_t begin_, end_;
  std::array<std::int32_t, 2> cu_q_, cu_k_;
};

}  // namespace stowage::kernels
