// ChunkFlow: rows of one size, made by packing short sequences together and cutting long ones.
//
// Sequences of up to `chunk_size` tokens are packed into standalone chunks. A longer sequence is
// cut into dependent chunks. They go forward in order, each attending to the keys and values of the
// chunks before it. They go backward in reverse, after the last chunk's forward pass. Only the last
// `retained` chunks of a sequence keep their activations. The others keep keys and values, and go
// forward again right before they go backward. Source: ChunkFlow (arXiv 2503.02356, sections 4.1 to
// 4.3).
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

// Limits of most_passes(), which keep a simulation to seconds. The schedule of chunks is slower to
// simulate.
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
  std::size_t index = 0;           // index among the chunks of its sequence
  std::size_t count = 1;           // number of those chunks; 1 if it stands alone

  bool operator==(const Chunk&) const = default;
};

// Returns standalone chunks first, packed first-fit from longest to shortest, then the dependent
// chunks, sequence by sequence. Chunks hold at most `chunk_size` tokens. Requires chunk_size >= 1
// and positive lengths.
std::vector<Chunk> cut_into_chunks(const std::vector<Tokens>& lengths, Tokens chunk_size);

// Returns the time of a piece, in ms, without the fixed time c.
Ms piece_ms(const ChunkPiece& piece, const Scheme& scheme);

// Returns the time of a chunk that goes forward twice.
inline Ms twice_ms(Ms once) { return once + once / (1 + kBackwardPerForward); }

// Returns c plus the linear and quadratic time of the chunk's pieces, in ms. A piece attends to all
// tokens of its sequence up to its end, so that the pieces of a sequence cost together as much as
// the whole sequence.
Ms chunk_ms(const Chunk& chunk, const Scheme& scheme);

// Returns chunk_ms(), and a third more for a chunk that goes forward twice.
Ms chunk_pass_ms(const Chunk& chunk, const Scheme& scheme, std::size_t retained);

// Returns the most rows that a step's sequences may make, times the stages of its deepest pipeline.
// The time to simulate or verify a plan grows with it. Requires cut_parts() of at most 2^53 /
// kMaxStages.
std::int64_t most_passes(const AssignInstance& instance);

// The time that a sequence of more than rule.size tokens takes on a scheme.
struct CutCost {
  std::int64_t chunks = 0;
  Ms sum = 0;      // chunk_pass_ms of all
  Ms longest = 0;  // the longest chunk_pass_ms
};

// Returns the cost with parts of the rule's size. It is a closed form, since a small size makes
// many chunks. Requires length > rule.size.
CutCost cut_cost(Tokens length, const ChunkRule& rule, const Scheme& scheme);

// A lower bound for every cut of the sequence into parts of up to rule.size tokens: its sum is at
// least work + parts fixed_ms, and it has at least `fewest` parts.
struct LeastCut {
  std::int64_t fewest = 0;
  Ms work = 0;
};
LeastCut least_cut(Tokens length, const ChunkRule& rule, const Scheme& scheme);

// Returns the rows of a replica as chunks. Requires rows of a plan that verifies.
std::vector<Chunk> chunks_of(const AssignInstance& instance, const std::vector<AssignRow>& rows);

// Bytes per token on one stage.
struct ChunkMemory {
  Bytes activation = 0;  // all tensors of the backward pass, keys and values too
  Bytes key_value = 0;   // keys and values only
};

// Returns the chunks for run_pipeline(), times in thirds of a millisecond. Requirements as below.
std::vector<PipelineItem> chunk_items(const std::vector<Chunk>& chunks, const Scheme& scheme,
                                      std::size_t retained, const ChunkMemory& memory);

// Runs the chunks as micro-batches of the scheme's pipeline, in their order. Times are in ms,
// memory in bytes by stage. Requires retained >= 1, and the chunks of each sequence side by side
// and in order.
PipelineRun run_chunks(const std::vector<Chunk>& chunks, const Scheme& scheme, std::size_t retained,
                       const ChunkMemory& memory);

}  // namespace stowage
