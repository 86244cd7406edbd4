// Layouts of a transformer's training step on one rank, from the list of its tensors.
//
//   Result<LayoutInstance> trace = trace_layout({.model = "llama-7b", .tokens = 131072});
//   // 32 layers forward and backward, with embedding and head, on one of eight ranks
//
// A step of the instance is one operation: what it writes begins there, and lives until the last
// operation that reads it. b s tokens of width h, feed-forward width f and t ranks give the sizes
//
//   U    = 2 b s h / t               a shard of an activation, 16 bits per number
//   FULL = 2 b s h                   an activation gathered along the sequence
//   KV   = U kv_heads / heads        keys or values; grouped-query attention has fewer of them
//   F    = 2 b s f / t               inside the feed-forward block
//   LSE  = 4 b s heads / t           the logarithm of attention's denominators, 32 bits
//   LOGITS = 4 b s vocabulary / t    in `logit_chunks` pieces, and as many for their gradients
//
// Forward: x U; norm U; gathered norm FULL, which dies after the product that makes qkv, U + 2 KV;
// q U, k KV, v KV; attention U and LSE; its projection FULL, summed and scattered U; residual U;
// norm U; gathered norm FULL; gate F, up F; their product F; down FULL, summed and scattered U; the
// next x U. Backward: the gradients of these in reverse, and the gathered tensors again. Weights,
// their gradients and the optimizer lie elsewhere. One layer by itself has 41 buffers.
//
// Sources: Megatron's tensor and sequence parallelism (arXiv 2205.05198), Ulysses (2309.14509),
// LLaMA's shapes (2302.13971), GPT-3's (2005.14165), MEMO's request sequences (2407.12117).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "instances/layout/instance.h"
#include "instances/result.h"

namespace stowage {

struct TransformerShape {
  std::string_view name;
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int feed_forward = 0;
  int vocabulary = 0;
  bool gated = true;  // gate and up; otherwise up alone
};

// llama-7b, llama-13b, llama-30b, llama-65b, gpt-7b, gpt-13b, gpt-30b.
const std::vector<TransformerShape>& transformer_shapes();

enum class Recompute {
  none,       // all that the backward pass reads stays
  selective,  // norms and the product of gate and up are computed again from what they read
  full,       // a layer keeps its x only, and is computed again before its backward pass
};

enum class SequenceSplit {
  megatron,  // tensor parallelism, activations sharded along the sequence between the blocks
  ulysses,   // sharded along the sequence everywhere but in attention; nothing is gathered
};

struct LayoutTrace {
  std::string model = "llama-7b";
  Tokens tokens = 8192;    // of all sequences of the micro-batch, before any split; 1 to 2^31
  int ranks = 8;           // t; divides the tokens, the heads, the key heads and f
  int kv_heads = 0;        // 0: as many as heads; divides them
  int layers = 0;          // 0: the model's; at most 1000
  bool whole_step = true;  // with embedding and head; otherwise x comes and dx goes at the edges
  Recompute recompute = Recompute::none;
  SequenceSplit split = SequenceSplit::megatron;
  int logit_chunks = 1;  // along the sequence; 1 to 1024, divides the tokens of a rank
  Bytes alignment = 1;   // of all buffers; allocators on GPUs use 256 or 512
};

// `layers` of the instance holds one block for the forward and one for the backward passes: of each
// layer, the buffers that are allocated and freed within its pass. What crosses from one layer to
// the next, or waits for the backward pass, is in none. E501 for an unknown model, E504 for an
// option out of its range or a division that leaves a rest, E335 for more than 2^53 bytes.
Result<LayoutInstance> trace_layout(const LayoutTrace& trace);

}  // namespace stowage
