// Ring attention: queries stay, keys and values go round (arXiv 2310.01889).
//
// Every rank holds a part of each sequence (ring_layout.h). In P steps it sees the keys of all
// others. A step is a softmax over a part of the keys; the next one takes up its running maximum
// and sum from O and LSE and goes on. Which part of a step's keys is visible follows from who sent
// them: in zigzag order a rank's own need the causal mask, of an earlier rank all queries see the
// first half of each sequence, and of a later rank only the second half of the queries sees any,
// namely all. Backward the keys go round again together with the sums of their gradients, which
// every step adds to in place and which travel one hop further, home.
//
//   RingAttention attention(world, layout.order(), local_shape, KvGradients::per_kv_head);
//   attention.forward(q, k, v, {.o = o, .sums = sums}, {});
//
// The result is that of one rank up to rounding: sums are formed in another order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/attention/attention_stage.h"
#include "kernels/exchange/ring_layout.h"
#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

struct KeyArrays;  // attention/attention_units.h

class RingAttention final : public AttentionStage {
 public:
  // `local` describes this rank's rows: cu_q and cu_k are the layout's local_cu_seqlens(), total_q
  // and total_k the number of its rows. Slack may differ between ranks, nothing else. The spans and
  // `world` must outlive the stage.
  RingAttention(Communicator& world, RingOrder order, const AttentionShape& local,
                KvGradients mode);

  AttentionMemory memory() const override { return {.sums = local_.lse_size()}; }
  void forward(std::span<const float> q, std::span<const float> k, std::span<const float> v,
               const StageOutput& output, std::span<float> scratch) override;
  void backward(const AttentionBackwardInput& input, std::span<float> dq, std::span<float> dk,
                std::span<float> dv, std::span<float> scratch) override;

 private:
  // What this rank's queries see of the keys that began at rank `source`; nothing if they see none.
  const AttentionShape* seen_of(int source) const;
  std::int64_t rows() const { return local_.cu_q.back(); }             // without slack
  void load_keys(std::span<const float> k, std::span<const float> v);  // into travelling_
  KeyArrays keys() const;                                              // of travelling_
  void pass_on(std::int64_t skip, std::int64_t count);  // of travelling_, round the ring

  Communicator& world_;
  RingOrder order_;
  AttentionShape local_;  // with slack, causal
  std::vector<std::int32_t> cu_all_, cu_halves_, cu_late_q_, cu_late_k_;
  AttentionShape own_, earlier_, later_;  // keys without slack, by where they come from
  KvGradients mode_;
  int sum_heads_;                     // of the gradients of keys
  std::int64_t key_size_, sum_size_;  // floats of k, and of the sums of dk
  // k, v and, backward, the sums of dk and dv, each with its heads outside: a kv head's tokens are
  // next to each other, as the kernels want them.
  std::vector<float> travelling_, arriving_;
  std::vector<float> delta_;  // of this rank's queries: the same in every step of backward
  std::vector<float> workspace_;
};

}  // namespace stowage::kernels
