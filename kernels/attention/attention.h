// Packed variable-length causal attention in FP32, forward and backward.
//
// Blocks of queries meet blocks of keys (simd_table.h has their sizes) with a running maximum, so
// that no (Lq x Lk) matrix ever exists; backward recomputes the probabilities from LSE.
// Source: FlashAttention-2 (arXiv 2307.08691, algorithms 1 and 2). Key blocks are anchored at a
// sequence's first key, and heads are independent: a head of a sequence has the same bits whatever
// else is in the batch, and on whichever rank it is computed.
//
//   std::vector<float> work(forward_workspace(shape));
//   attention_forward(shape, q, k, v, o, lse, work);
//
// Nothing is validated and nothing is allocated here: see check(AttentionShape).
//
// Thread safety: any number of threads may call these functions at once, each with arrays to write
// and a workspace of its own.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/attention/attention_shape.h"

namespace stowage::kernels {

// Floats of scratch space that the two passes need.
std::int64_t forward_workspace(const AttentionShape& shape);
std::int64_t backward_workspace(const AttentionShape& shape);

// Writes all of o (total_q, heads, head_dim) and lse (2, heads, total_q).
void attention_forward(const AttentionShape& shape, std::span<const float> q,
                       std::span<const float> k, std::span<const float> v, std::span<float> o,
                       std::span<float> lse, std::span<float> workspace);

// Writes all of dq, dk and dv. Outputs must not overlap inputs.
void attention_backward(const AttentionShape& shape, const AttentionBackwardInput& input,
                        KvGradients mode, std::span<float> dq, std::span<float> dk,
                        std::span<float> dv, std::span<float> workspace);

// (rows, heads, head_dim) -> (rows, kv_heads, head_dim), adding the heads/kv_heads query heads of
// each kv head in head order: the order of KvGradients::per_kv_head, hence the same bits.
void sum_kv_gradients(std::int64_t rows, int heads, int kv_heads, int head_dim,
                      std::span<const float> per_query_head, std::span<float> per_kv_head);

}  // namespace stowage::kernels
