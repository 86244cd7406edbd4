// Packed variable-length causal attention in FP32, forward and backward.
//
// Several sequences are laid end to end in one array. Conventions are those of flash-attention's
// variable-length interface. Row-major arrays:
//
//   q, o, dq, do   (total_q, heads, head_dim)        lse  (2, heads, total_q)
//   k, v, dk, dv   (total_k, kv_heads, head_dim)
//
// The second half of lse is ours: behind the logarithms, what rounding to single precision took
// from each. Backward raises to their power, and a logit of 30,000 is known to 0.001 only.
//
// Sequence b owns query rows [cu_q[b], cu_q[b+1]) and key rows [cu_k[b], cu_k[b+1]). The causal
// mask is aligned to the bottom right corner: query i of a sequence sees key j when
// j <= i + (Lk - Lq). A query that sees no key has output 0 and lse -inf. Rows at or beyond the
// last entry are slack: never read, their outputs (lse too) and gradients are written as 0.
// Sequences of length 0 and Lq > Lk are legal.
//
// Blocks of queries meet blocks of keys (simd_table.h has their sizes) with a running maximum, so
// that no (Lq x Lk) matrix ever exists; backward recomputes the probabilities from LSE.
// Source: FlashAttention-2 (arXiv 2307.08691, algorithms 1 and 2). Key blocks are anchored at a
// sequence's first key, and heads are independent: a head of a sequence has the same bits whatever
// else is in the batch, and on whichever rank it is computed.
//
//   const std::vector<std::int32_t> cu = {0, 3, 8};
//   AttentionShape shape{.total_q = 8, .total_k = 8, .heads = 4, .kv_heads = 2, .head_dim = 16,
//                        .cu_q = cu, .cu_k = cu};
//   for (const std::string& problem : check(shape)) complain(problem);
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
#include <string>
#include <vector>

namespace stowage::kernels {

struct AttentionShape {
  std::int64_t total_q = 0;  // rows of q, slack included
  std::int64_t total_k = 0;  // rows of k and v, slack included
  int heads = 1;             // query heads
  int kv_heads = 1;
  int head_dim = 64;
  std::span<const std::int32_t> cu_q;  // B + 1 entries, first 0, non-decreasing
  std::span<const std::int32_t> cu_k;
  double scale = 0;    // of the logits; 0 means 1/sqrt(head_dim)
  bool causal = true;  // false: every query sees all keys of its sequence
  // Query head h reads kv head (group_offset + h) / group_size. The defaults are grouped-query
  // attention over whole groups; a rank that owns a run of heads may own parts of two groups.
  int group_size = 0;  // 0 means heads / kv_heads
  int group_offset = 0;

  int queries_per_kv() const { return group_size > 0 ? group_size : heads / kv_heads; }
  int kv_head(int head) const { return (group_offset + head) / queries_per_kv(); }
  // Query i of a sequence sees key j when j <= i + diagonal(Lq, Lk).
  std::int64_t diagonal(std::int64_t lq, std::int64_t lk) const { return causal ? lk - lq : lk; }
  double logit_scale() const;  // what `scale` means
  std::int64_t q_size() const { return total_q * heads * head_dim; }
  std::int64_t k_size() const { return total_k * kv_heads * head_dim; }
  std::int64_t logarithms() const { return total_q * heads; }  // in either half of lse
  std::int64_t lse_size() const { return 2 * logarithms(); }
};

// Where the gradients of a kv head that serves several query heads go.
enum class KvGradients {
  per_kv_head,     // dk, dv (total_k, kv_heads, head_dim): summed over query heads in head order
  per_query_head,  // dk, dv (total_k, heads, head_dim): not summed; sum_kv_gradients() finishes
};

// Everything backward reads: the inputs, what forward wrote, and the gradient of o.
struct AttentionBackwardInput {
  std::span<const float> q, k, v, o, lse, upstream;
};

// Everything wrong with a shape, one readable sentence each; empty for a usable one. The kernels
// check nothing themselves: a shape that fails here reads out of bounds there. Zero heads are
// legal (a rank may own none).
std::vector<std::string> check(const AttentionShape& shape);

// The prefix-sum rules alone: `name` appears in the messages, `total` is the rows of the array.
std::vector<std::string> check_cu_seqlens(std::span<const std::int32_t> cu, std::int64_t total,
                                          const std::string& name);

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
