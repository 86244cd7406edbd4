// Runs a block over a packed batch chunk by chunk, the method of ChunkFlow for long sequences
// (arXiv 2503.02356, sections 4.1 and 4.2).
//
// Short sequences share chunks, and long sequences are cut (instances/assign/chunks/chunk_flow.h).
// The forward pass runs the chunks of a long sequence in order and retains keys and values for
// later chunks. The backward pass runs the chunks in reverse order. Only the last `retained` chunks
// keep their activations; the forward pass of the other chunks is repeated right before their
// backward pass. Within a chunk the ranks share tokens and heads by Ulysses.
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

// The arrays of a forward and backward pass, (tokens, hidden) each: x and upstream are read, y and
// dx are written.
struct BlockRows {
  std::span<const float> x, upstream;
  std::span<float> y, dx;
};

class ChunkedBlock {
 public:
  // exchange.kind must be chunked. `world` must outlive this object.
  ChunkedBlock(Communicator& world, const BlockShape& block, const Exchange& exchange,
               std::span<const std::int32_t> cu_seqlens, std::int64_t tokens);

  // Runs the forward and backward pass of all chunks and adds to `gradient`. The rows are this
  // rank's rows of token_layout(). All ranks must call it.
  void run(const BlockWeights<float>& weights, const BlockRows& rows,
           BlockWeights<float>& gradient) const;

 private:
  struct Part {                            // a chunk, or the slack rows
    std::int64_t tokens = 0;               // tokens on all ranks
    std::int64_t begin = 0, count = 0;     // range of its tokens among this rank's tokens
    std::vector<std::int32_t> positions;   // positions of this rank's tokens
    std::vector<std::int32_t> cu_seqlens;  // prefix sums of its pieces
    bool follows = false;                  // true if it continues the sequence of the previous part
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
