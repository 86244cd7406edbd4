// The assignment of tokens to ranks when packed sequences are cut for ring attention.
//
// Under a causal mask a rank that holds the end of a sequence has most of the work. The zigzag
// order cuts every sequence in 2P chunks and gives rank r the chunks r and 2P-1-r, so that all
// ranks have equal work. The contiguous order cuts every sequence in P chunks and serves as a
// comparison. Sources: Striped Attention (arXiv 2311.09431) for the imbalance, the zigzag order as
// Llama 3 trains with it (arXiv 2407.21783, section 3.3.2).
//
// The chunks of a sequence are equally long, so sequences are padded. Two prefix sums describe a
// batch: cu_seqlens of the tokens and cu_seqlens_padded of the padded rows. Padding is at the end
// of a sequence, where the causal mask hides it from every token.
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
  // cu_seqlens must satisfy check_cu_seqlens() for `tokens` rows. Throws std::length_error if the
  // padded batch has more than 2^31 - 1 rows.
  RingLayout(RingOrder order, std::span<const std::int32_t> cu_seqlens, std::int64_t tokens,
             int ranks);

  RingOrder order() const { return order_; }
  int ranks() const { return ranks_; }
  // Returns prefix sums of the lengths rounded up to a multiple of the number of chunks, 2 P or P.
  std::span<const std::int32_t> cu_seqlens_padded() const { return padded_; }
  // Returns the prefix sums of a rank's rows, equal on all ranks: cu_seqlens_padded / P.
  std::span<const std::int32_t> local_cu_seqlens() const { return local_; }

  // Returns the packed rows of a rank, sequence by sequence, and within a sequence the earlier
  // chunk first; -1 is padding. The slack rows follow, distributed by even_split(). Only their
  // number differs between ranks.
  std::vector<std::int64_t> rows(int rank) const;

 private:
  RingOrder order_;
  int ranks_;
  std::int64_t tokens_;
  std::vector<std::int32_t> cu_, padded_, local_;
};

}  // namespace stowage::kernels
