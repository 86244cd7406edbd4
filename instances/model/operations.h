// The operations of a transformer's training step on one rank, in the order they run, and the
// tensors that they read and write.
//
//   Result<TransformerOperations> step = trace_operations({.model = "llama-7b", .tokens = 131072});
//   // 32 layers forward and backward, with embedding and head, on one of eight ranks
//
// A tensor is kept from the operation that writes it to the last one that reads it. b s tokens of
// width h, feed-forward width f and t ranks give the sizes
//
//   U    = 2 b s h / t               a shard of an activation, 16 bits per number
//   FULL = 2 b s h                   an activation gathered along the sequence
//   Q    = 2 b s heads head / t      queries, and the output of attention; U if the heads, of
//                                    width `head`, fill h
//   KV   = Q kv_heads / heads        keys or values; grouped-query attention has fewer of them
//   F    = 2 b s f / t               inside the feed-forward block
//   LSE  = 4 b s heads / t           the logarithm of attention's denominators, 32 bits
//   LOGITS = 4 b s vocabulary / t    in `logit_chunks` pieces, and the same for their gradients
//
// and where a router picks k of e experts of width g for each token
//
//   ROUTES = 4 b s e / t             the router's scores, 32 bits
//   COPIES = 2 b s h k / t           the tokens that go to experts; k FULL gathered
//   G      = 2 b s g k / t           inside the experts
//
// Forward: x U; norm U; gathered norm FULL, which dies after the product that makes qkv, Q + 2 KV;
// q Q, k KV, v KV; attention Q and LSE; its projection FULL, summed and scattered U; residual U;
// norm U; gathered norm FULL; gate F, up F; their product F; down FULL, summed and scattered U; the
// next x U. Backward: the gradients of these in reverse, and the gathered tensors again. Weights,
// their gradients and the optimizer are in other memory. One layer alone has 41 tensors.
//
// With `stream_chunks` parts, the keys and values of all tokens are made first, then the rest of
// each part. In the backward pass they are made again. Then, from the last part to the first, come
// the rest of a part's forward pass and its backward pass. Their outputs have the size of the part,
// except the next x and the gradients of keys, values and x, which grow from part to part.
//
// Experts stand in the place of gate, up and down, or beside them: routes ROUTES; sent COPIES; if
// ranks share experts, received COPIES, after an all-to-all; gathered k FULL; gate G, up G; their
// product with the routes G; down k FULL, summed and scattered COPIES; returned COPIES, after an
// all-to-all. Each expert is assumed to get the same number of tokens, so that a rank receives as
// many copies as it sends (Switch Transformers, 2101.03961, balance them).
//
// Sources: Megatron's tensor and sequence parallelism (arXiv 2205.05198), Ulysses (2309.14509),
// MEMO's request sequences (2407.12117).
#pragma once

#include <string>
#include <vector>

#include "instances/model/transformer.h"
#include "instances/result.h"
#include "instances/units.h"

namespace stowage {

enum class Recompute {
  none,       // all tensors that the backward pass reads stay
  selective,  // norms and the product of gate and up are computed again
  full,       // a layer keeps only its x, and is computed again before its backward pass
};

enum class SequenceSplit {
  megatron,  // tensor parallelism; activations are sharded along the sequence between blocks
  ulysses,   // sharded along the sequence except in attention; nothing is gathered
};

struct TransformerStep {
  std::string model = "llama-7b";  // one of transformer_names()
  Tokens tokens = 8192;    // of all sequences of the micro-batch, before any split; 1 to 2^31
  int ranks = 8;           // t; divides the tokens, the heads, the key heads and f
  int kv_heads = 0;        // 0: the model's; divides the heads
  int layers = 0;          // 0: the model's; at most 1000
  bool whole_step = true;  // with embedding and head; otherwise x and dx cross the edges
  Recompute recompute = Recompute::none;
  SequenceSplit split = SequenceSplit::megatron;
  int logit_chunks = 1;  // along the sequence; 1 to 1024, divides the tokens of a rank
  // Parts of the sequence in which a layer goes forward and backward, with full recomputation only
  // (StreamBP, arXiv 2506.03077); 1 to 1024, divides the tokens of a rank.
  int stream_chunks = 1;
  bool shared_experts = false;  // ranks have different experts: tokens go there and back
};

// The layer behind attention: a part that every token goes through, experts, or both.
struct FeedForward {
  int width = 0;  // 0: no such part
  bool gated = true;
  int experts = 0;  // 0: none
  int top_k = 0;    // experts that a token goes to
  int expert_width = 0;

  bool operator==(const FeedForward&) const = default;
};

struct Tensor {
  std::string id;  // "3.qkv": qkv of layer 3
  Bytes size = 0;
};

struct Operation {
  static constexpr int kNoLayer = -1;

  std::vector<int> reads;   // indices of tensors
  std::vector<int> writes;  // empty: its result leaves the rank, or is added to a tensor
  int layer = kNoLayer;     // whose pass it belongs to; kNoLayer before, between and after them
  bool backward = false;
};

struct TransformerOperations {
  std::string name;  // "llama-7b-8192tok-8ranks-32layers"
  int layers = 0;
  bool alike = true;  // all layers have the same operations
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;
};

// Returns the operations. E501 for an unknown model and for a model with experts, E504 for an
// option out of its range or a division with a remainder.
Result<TransformerOperations> trace_operations(const TransformerStep& step);

// Returns the operations of a model of any shape; `step.model` is its name.
Result<TransformerOperations> trace_operations(const TransformerStep& step,
                                               const TransformerShape& shape);

// Returns the operations of a model with one layer for each entry of `layers`, which replaces the
// feed-forward part of the shape.
Result<TransformerOperations> trace_operations(const TransformerStep& step,
                                               const TransformerShape& shape,
                                               const std::vector<FeedForward>& layers);

}  // namespace stowage
