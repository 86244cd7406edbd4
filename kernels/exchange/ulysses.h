// Sequence-parallel attention by exchanging tokens for heads (DeepSpeed-Ulysses, arXiv 2309.14509).
//
// A rank holds a contiguous slice of the packed tokens with all heads. An all-to-all gives it all
// tokens of its own heads. It computes attention with the global cu_seqlens, and the inverse
// exchange returns its slice of the output. There are four exchanges forward (q, k, v, o) and four
// backward.
//
//   UlyssesAttention attention(world, global_shape);   // shape of the whole packed batch
//   attention.forward(q_slice, k_slice, v_slice, {.o = o_slice}, {});
//
// The number of ranks need not divide tokens or heads: even_split() distributes both, and a rank
// may own no head or no token. A kv head is sent to every rank that owns one of its query heads.
// Its gradient returns once per query head, and the owner of the token sums these gradients in head
// order, as on one rank. So the result equals LocalAttention's bit for bit, for any number of
// ranks. The cost: dK and dV are exchanged with `heads` instead of kv_heads heads.
//
// An inner stage computes the attention of a rank's heads between the exchanges. The default is
// attention on this rank; a ring is another choice (hybrid_attention.h).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kernels/attention/attention_stage.h"
#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

// Creates the stage for one rank's heads of all tokens; its dk and dv must be per query head.
using MakeAttention = std::function<std::unique_ptr<AttentionStage>(const AttentionShape& own)>;

class UlyssesAttention final : public AttentionStage {
 public:
  // `shape` has total_q == total_k and cu_q == cu_k; its spans and `world` must outlive the stage.
  UlyssesAttention(Communicator& world, const AttentionShape& shape);
  UlyssesAttention(Communicator& world, const AttentionShape& shape, const MakeAttention& inside);

  // Returns zeros, since the stage keeps its data between the passes, the exchanged heads, in
  // memory of its own.
  AttentionMemory memory() const override { return {}; }
  // Returns the floats that this object keeps, without buffers that the inner stage owns.
  std::int64_t floats() const;
  void forward(std::span<const float> q, std::span<const float> k, std::span<const float> v,
               const StageOutput& output, std::span<float> scratch) override;
  // Reads only the upstream gradient of `input`.
  void backward(const AttentionBackwardInput& input, std::span<float> dq, std::span<float> dk,
                std::span<float> dv, std::span<float> scratch) override;

 private:
  // The heads of a tensor that each rank needs: [first[r], last[r]).
  struct Deal {
    std::vector<int> first, last;
    int width(int rank) const { return last[rank] - first[rank]; }
  };
  std::int64_t my_tokens() const;
  // The heads of a tensor on all ranks together, and their channels.
  struct Width {
    int heads, dim;
  };
  // (my tokens, heads, dim) -> (all tokens, my heads, dim), and back.
  void to_heads(const Deal& deal, Width width, std::span<const float> slice, std::span<float> mine);
  void to_tokens(const Deal& deal, Width width, std::span<const float> mine,
                 std::span<float> slice);
  // The sums of the gradients of keys or values, with `dim` channels, over their query heads.
  void sum_to_tokens(int dim, std::span<const float> mine, std::span<float> slice);

  Communicator& world_;
  AttentionShape shape_;             // shape of the whole batch
  AttentionShape own_;               // all tokens, this rank's heads
  std::vector<std::int64_t> split_;  // tokens of rank r: [split_[r], split_[r+1])
  Deal query_, kv_;
  std::unique_ptr<AttentionStage> inside_;
  std::vector<std::int64_t> send_counts_, recv_counts_;
  std::vector<float> q_, k_, v_, o_, sums_;        // this rank's heads
  std::vector<float> upstream_, dq_, dk_, dv_;     // this rank's heads; dk, dv per query head
  std::vector<float> packed_, slice_, workspace_;  // packed_: one block per rank
};

}  // namespace stowage::kernels
