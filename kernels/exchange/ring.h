// Ring attention: queries stay on their rank, keys and values travel around the ring (arXiv
// 2310.01889).
//
// Every rank holds a part of each sequence (ring_layout.h). In P steps it processes the keys of all
// ranks. A step computes the softmax over a part of the keys; the next step restores the running
// maximum and sum from O and LSE and continues. The visible keys of a step depend on the rank that
// they come from. In zigzag order a rank's own keys need the causal mask. Of an earlier rank's
// keys, all queries see the first half of each sequence. Of a later rank's keys, only the second
// half of the queries sees any, and it sees all. With a sliding window each half of a rank's
// queries meets each half of the keys by the distance of their positions. In the backward pass the
// keys travel around again, together with the sums of their gradients. Every step adds to these
// sums in place, and one further hop returns them to their rank.
//
//   RingAttention attention(world, layout.order(), local_shape, KvGradients::per_kv_head);
//   attention.forward(q, k, v, {.o = o, .sums = sums}, {});
//
// The result equals that of one rank up to rounding, since the order of the sums differs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/attention/attention_stage.h"
#include "kernels/exchange/ring_layout.h"
#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

struct KeyArrays;  // defined in attention/attention_units.h

class RingAttention final : public AttentionStage {
 public:
  // `local` describes this rank's rows: cu_q and cu_k are the layout's local_cu_seqlens(), and
  // total_q and total_k are the number of its rows. Ranks may differ only in the number of slack
  // rows. The spans and `world` must outlive the stage.
  RingAttention(Communicator& world, RingOrder order, const AttentionShape& local,
                KvGradients mode);

  AttentionMemory memory() const override { return {.sums = local_.lse_size()}; }
  void forward(std::span<const float> q, std::span<const float> k, std::span<const float> v,
               const StageOutput& output, std::span<float> scratch) override;
  void backward(const AttentionBackwardInput& input, std::span<float> dq, std::span<float> dk,
                std::span<float> dv, std::span<float> scratch) override;

 private:
  // A part of the attention of this rank's queries over the keys of another rank: rectangles of
  // queries and keys, one or more per sequence.
  struct Part {
    std::vector<std::int32_t> cu_q, cu_k;
    std::vector<std::int64_t> diagonals;  // empty: every query sees every key

    void add(std::int32_t end_q, std::int32_t end_k, std::int64_t diagonal);
    AttentionShape shape(const AttentionShape& own) const;
  };
  // Returns the parts over the keys of rank `source`; none if no key of it is seen.
  std::vector<Part> parts_of(int source) const;
  std::vector<Part> window_parts_of(int source) const;
  std::int64_t rows() const { return local_.cu_q.back(); }             // rows without slack
  void load_keys(std::span<const float> k, std::span<const float> v);  // into travelling_
  KeyArrays keys() const;                                              // keys in travelling_
  // sends a part of travelling_ to the next rank
  void pass_on(std::int64_t skip, std::int64_t count);

  Communicator& world_;
  RingOrder order_;
  AttentionShape local_;                  // with slack, causal
  AttentionShape own_;                    // without slack
  std::vector<std::vector<Part>> parts_;  // by the origin of the keys
  KvGradients mode_;
  int sum_heads_;  // heads of the gradients of keys
  // Where v and the sums of dk and dv begin in travelling_, and its size.
  std::int64_t v_at_, dk_at_, dv_at_, size_;
  // k, v and, in the backward pass, the sums of dk and dv, in the kernels' layout: the tokens of a
  // kv head are contiguous.
  std::vector<float> travelling_, arriving_;
  // delta of this rank's queries, which is the same in every step of the backward pass
  std::vector<float> delta_;
  std::vector<float> workspace_;
};

}  // namespace stowage::kernels
