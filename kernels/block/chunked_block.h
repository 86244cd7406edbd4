// A block over a packed batch chunk by chunk, as ChunkFlow trains long sequences
// (arXiv 2503.02356, sections 4.1 and 4.2).
//
// Short sequences share chunks, long ones are cut (instances/assign/chunk_flow.h). The chunks of a
// long sequence go forward in order, each with the keys and values before it retained, and backward
// in reverse. Only the last `retained` of them keep their activations; the others go forward once
// more right before they go backward. Within a chunk the ranks share tokens and heads by Ulysses.
//
//   ChunkedBlock pass(world, block, exchange, cu_seqlens, tokens);
//   pass.run(weights, {.x = x, .upstream = upstream, .y = y, .dx = dx}, gradient);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/block/block_weights.h"
#include "kernels/exchange/exchange.h"
#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

// (tokens, hidden) each: what a forward and backward pass reads and writes.
struct BlockRows {
  std::span<const float> x, upstream;
  std::span<float> y, dx;
};

class ChunkedBlock {
 public:
  // exchange.kind is chunked. `world` must outlive it.
  ChunkedBlock(Communicator& world, const BlockShape& block, const Exchange& exchange,
               std::span<const std::int32_t> cu_seqlens, std::int64_t tokens);

  // Forward and backward of everything; adds to `gradient`. Rows are this rank's of token_layout().
  // All ranks call it.
  void run(const BlockWeights<float>& weights, const BlockRows& rows,
           BlockWeights<float>& gradient) const;

 private:
  struct Part {                            // a chunk, or the slack rows
    std::int64_t tokens = 0;               // of all ranks
    std::int64_t begin = 0, count = 0;     // where its tokens are among this rank's
    std::vector<std::int32_t> positions;   // of this rank's tokens
    std::vector<std::int32_t> cu_seqlens;  // of its pieces
    bool follows = false;                  // it continues the sequence of the part before it
  };
  struct Pass;

  void add(Part part, std::span<const std::int32_t> positions);
  std::vector<Part>::const_iterator end_of_sequence(std::vector<Part>::const_iterator first) const;

  Communicator& world_;
  BlockShape block_;
  std::int64_t retained_;
  std::vector<Part> parts_;
};

}  // namespace stowage::kernels
