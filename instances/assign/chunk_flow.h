// ChunkFlow: rows of one size, made by packing short sequences together and cutting long ones.
//
// Sequences of up to `chunk_size` tokens are packed into standalone chunks. A longer one is cut
// into dependent chunks: forward in order, each attending to the keys and values of those before
// it, backward in reverse, after the last one's forward pass. Of a sequence's chunks only the last
// `retained` keep their activations; the others keep keys and values and go forward once more right
// before they go backward. Source: ChunkFlow (arXiv 2503.02356, sections 4.1 to 4.3).
//
//   const std::vector<Chunk> chunks = cut_into_chunks({4, 2, 1, 1}, 2);  // 2 | 1 1 | 4 in two
//   run_chunks(chunks, {.pp = 4, .linear_ms = 3}, 2, {}).end;            // 46, and 56 without
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/pipeline/schedule.h"
#include "instances/units.h"

namespace stowage {

// Of most_passes(). The chunks' schedule is the slower one to simulate.
inline constexpr std::int64_t kMaxPasses = 100'000'000;
inline constexpr std::int64_t kMaxChunkPasses = 50'000'000;

// Tokens [begin, end) of a sequence.
struct ChunkPiece {
  std::int64_t sequence = 0;
  Tokens begin = 0;
  Tokens end = 0;

  bool operator==(const ChunkPiece&) const = default;
};

struct Chunk {
  std::vector<ChunkPiece> pieces;  // one, unless the chunk is packed
  std::size_t index = 0;           // among the chunks of its sequence
  std::size_t count = 1;           // of those chunks; 1 if it stands alone

  bool operator==(const Chunk&) const = default;
};

// Standalone chunks first, packed first-fit from longest to shortest; then the dependent ones,
// sequence by sequence. Chunks hold `chunk_size` tokens at most. Requires chunk_size >= 1 and
// positive lengths.
std::vector<Chunk> cut_into_chunks(const std::vector<Tokens>& lengths, Tokens chunk_size);

// Of a piece, in ms, without c.
Ms piece_ms(const ChunkPiece& piece, const Scheme& scheme);

// What a chunk takes that goes forward once more.
inline Ms twice_ms(Ms once) { return once + once / (1 + kBackwardPerForward); }

// c plus the linear and quadratic time of its pieces, in ms. A piece attends to all tokens of its
// sequence up to its end, so that the pieces of a sequence cost together what it costs whole.
Ms chunk_ms(const Chunk& chunk, const Scheme& scheme);

// chunk_ms, and a third more for a chunk that goes forward once more.
Ms chunk_pass_ms(const Chunk& chunk, const Scheme& scheme, std::size_t retained);

// As many rows as a step's sequences may make, times the stages of its deepest pipeline: what
// simulating a plan, and verifying it, takes. Requires cut_parts() of at most 2^53 / kMaxStages.
std::int64_t most_passes(const AssignInstance& instance);

// What a sequence of more than rule.size tokens takes on a scheme.
struct CutCost {
  std::int64_t chunks = 0;
  Ms sum = 0;      // chunk_pass_ms of all
  Ms longest = 0;  // and of the longest
};

// With parts of the rule's size, in closed form, since a short one makes many chunks. Requires
// length > rule.size.
CutCost cut_cost(Tokens length, const ChunkRule& rule, const Scheme& scheme);

// No cut of the sequence into parts of up to rule.size tokens takes less in sum than
// work + parts fixed_ms, whatever its number of parts, of which there are at least `fewest`.
struct LeastCut {
  std::int64_t fewest = 0;
  Ms work = 0;
};
LeastCut least_cut(Tokens length, const ChunkRule& rule, const Scheme& scheme);

// The rows of a replica of a plan that verifies, as chunks.
std::vector<Chunk> chunks_of(const AssignInstance& instance, const std::vector<AssignRow>& rows);

// Bytes per token on one stage.
struct ChunkMemory {
  Bytes activation = 0;  // all that the backward pass needs, keys and values included
  Bytes key_value = 0;   // keys and values alone
};

// The chunks for run_pipeline, times in thirds of a millisecond. Requirements as below.
std::vector<PipelineItem> chunk_items(const std::vector<Chunk>& chunks, const Scheme& scheme,
                                      std::size_t retained, const ChunkMemory& memory);

// The chunks as micro-batches of the scheme's pipeline, in their order; times in ms, memory in
// bytes by stage. Requires retained >= 1 and the chunks of each sequence side by side and in order.
PipelineRun run_chunks(const std::vector<Chunk>& chunks, const Scheme& scheme, std::size_t retained,
                       const ChunkMemory& memory);

}  // namespace stowage
