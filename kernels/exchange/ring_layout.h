// Who holds which token when packed sequences are cut for ring attention.
//
// Under a causal mask a rank that holds the end of a sequence has most of the work. The zigzag
// order cuts every sequence in 2P chunks and gives rank r the chunks r and 2P-1-r, so that all have
// the same; the contiguous order cuts it in P and is kept to show the difference. Sources: Striped
// Attention (arXiv 2311.09431) for the imbalance, the zigzag order as Llama 3 trains with it
// (arXiv 2407.21783, section 3.3.2).
//
// Chunks are equally long, so sequences are padded: two prefix sums describe a batch, cu_seqlens of
// the tokens and cu_seqlens_padded of their places. Padding stands at a sequence's end, where the
// causal mask hides it from every token.
//
//   const RingLayout ring(RingOrder::zigzag, cu_seqlens, tokens, 4);
//   ring.rows(1);   // packed rows that rank 1 holds, in its order; -1 is padding
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stowage::kernels {

enum class RingOrder { contiguous, zigzag };

class RingLayout {
 public:
  // cu_seqlens as check_cu_seqlens() wants it for `tokens` rows. Throws std::length_error if the
  // padded batch has more than 2^31 - 1 rows.
  RingLayout(RingOrder order, std::span<const std::int32_t> cu_seqlens, std::int64_t tokens,
             int ranks);

  RingOrder order() const { return order_; }
  int ranks() const { return ranks_; }
  // Every length rounded up to a multiple of the chunks, 2 P or P.
  std::span<const std::int32_t> cu_seqlens_padded() const { return padded_; }
  // A rank's own prefix sums, the same on all: cu_seqlens_padded / P.
  std::span<const std::int32_t> local_cu_seqlens() const { return local_; }

  // The packed rows of a rank, sequence by sequence, in each the earlier chunk first; -1 is
  // padding. Slack rows follow, dealt out by even_split(): the only part whose size differs between
  // ranks.
  std::vector<std::int64_t> rows(int rank) const;

 private:
  RingOrder order_;
  int ranks_;
  std::int64_t tokens_;
  std::vector<std::int32_t> cu_, padded_, local_;
};

}  // namespace stowage::kernels
