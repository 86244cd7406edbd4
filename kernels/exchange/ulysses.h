// Sequence-parallel attention by exchanging tokens for heads (DeepSpeed-Ulysses, arXiv 2309.14509).
//
// A rank holds a contiguous slice of the packed tokens with all heads. One all-to-all later it
// holds all tokens of its own heads, attends with the global cu_seqlens unchanged, and the inverse
// exchange brings its slice of the output back: four exchanges forward (q, k, v, o), four backward.
//
//   UlyssesAttention attention(world, global_shape);   // shape of the whole packed batch
//   attention.forward(q_slice, k_slice, v_slice, {.o = o_slice}, {});
//
// Neither tokens nor heads need divide evenly: both are dealt out by even_split(), and a rank may
// own no head or no token. A kv head travels to every rank that owns one of its query heads. Its
// gradient comes back once per query head and is summed by the owner of the token in head order,
// as one rank would: the result equals LocalAttention's bit for bit, for any number of ranks. The
// price is a volume of heads instead of kv_heads for dK and dV.
//
// What happens to a rank's heads between the exchanges is a stage of its own: attention on this
// rank unless said otherwise, for instance a ring (hybrid_attention.h).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kernels/attention/attention_stage.h"
#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

// Makes the stage for one rank's heads of all tokens; its dk and dv are per query head.
using MakeAttention = std::function<std::unique_ptr<AttentionStage>(const AttentionShape& own)>;

class UlyssesAttention final : public AttentionStage {
 public:
  // `shape` has total_q == total_k and cu_q == cu_k; its spans and `world` must outlive the stage.
  UlyssesAttention(Communicator& world, const AttentionShape& shape);
  UlyssesAttention(Communicator& world, const AttentionShape& shape, const MakeAttention& inside);

  // What it keeps between the passes is its own: heads that were exchanged.
  AttentionMemory memory() const override { return {}; }
  // All that it keeps, beside what the stage inside may have.
  std::int64_t floats() const;
  void forward(std::span<const float> q, std::span<const float> k, std::span<const float> v,
               const StageOutput& output, std::span<float> scratch) override;
  // Reads nothing of `input` but the upstream gradient.
  void backward(const AttentionBackwardInput& input, std::span<float> dq, std::span<float> dk,
                std::span<float> dv, std::span<float> scratch) override;

 private:
  // Which heads of a tensor each rank needs: [first[r], last[r]).
  struct Deal {
    std::vector<int> first, last;
    int width(int rank) const { return last[rank] - first[rank]; }
  };
  std::int64_t my_tokens() const;
  // (my tokens, heads, dim) -> (all tokens, my heads, dim), and back.
  void to_heads(const Deal& deal, int heads, std::span<const float> slice, std::span<float> mine);
  void to_tokens(const Deal& deal, int heads, std::span<const float> mine, std::span<float> slice);

  Communicator& world_;
  AttentionShape shape_;             // of the whole batch
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
