// Packed variable-length causal attention in FP32, forward and backward.
//
// Several sequences are laid end to end in one array. The conventions are those of
// flash-attention's variable-length interface. All arrays are row-major:
//
//   q, dq   (total_q, heads, head_dim)          o, do   (total_q, heads, value_dim)
//   k, dk   (total_k, kv_heads, head_dim)       v, dv   (total_k, kv_heads, value_dim)
//   lse     (2, heads, total_q)
//
// value_dim is head_dim, unless the shape says otherwise, as with multi-head latent attention
// (arXiv 2405.04434), whose keys are 192 and whose values are 128 channels wide.
//
// The first half of lse holds the logarithms; the second half is an extension of this library and
// holds the rounding error of each logarithm in single precision. Backward exponentiates the
// logarithms and needs both halves: a float of size 30,000 has a spacing of about 0.002.
//
// Sequence b owns query rows [cu_q[b], cu_q[b+1]) and key rows [cu_k[b], cu_k[b+1]). The causal
// mask is aligned to the bottom right corner: query i of a sequence sees key j when j <= i + (Lk -
// Lq). With a window w it sees at most w of these keys, the last ones: j > i + (Lk - Lq) - w. A
// query that sees no key, or whose logits are all -inf, has output 0 and lse -inf. Rows at or
// beyond the last entry of cu are slack: the kernels never read them, and write 0 to their outputs,
// lse and gradients. Sequences of length 0 and Lq > Lk are legal.
//
// The kernels process blocks of queries against blocks of keys (sizes in simd/table.h) with a
// running maximum, so no (Lq x Lk) matrix is stored. Backward recomputes the probabilities from
// lse. Source: FlashAttention-2 (arXiv 2307.08691, algorithms 1 and 2). Key blocks start at a
// sequence's first key, and heads are independent. So the result of a head of a sequence has the
// same bits in every batch and on every rank.
//
//   const std::vector<std::int32_t> cu = {0, 3, 8};
//   AttentionShape shape{.total_q = 8, .total_k = 8, .heads = 4, .kv_heads = 2, .head_dim = 16,
//                        .cu_q = cu, .cu_k = cu};
//   for (const std::string& problem : check(shape)) complain(problem);
//   std::vector<float> work(forward_workspace(shape));
//   attention_forward(shape, q, k, v, o, lse, work);
//
// What a query does not see does not touch it: if q, k, v or do contain a NaN or an infinity, every
// element of o, lse, dq, dk and dv whose formula does not contain that value has the same bits as
// without it.
//
// These functions validate nothing and allocate nothing; call check(AttentionShape) first.
//
// Thread safety: any number of threads may call these functions at once, each with arrays to write
// and a workspace of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stowage::kernels {

// A window that hides no key: more than a sequence can have.
inline constexpr std::int64_t kEveryKey = std::int64_t{1} << 40;

struct AttentionShape {
  std::int64_t total_q = 0;  // rows of q, slack included
  std::int64_t total_k = 0;  // rows of k and v, slack included
  int heads = 1;             // query heads
  int kv_heads = 1;
  int head_dim = 64;                   // channels of q and k
  std::span<const std::int32_t> cu_q;  // B + 1 entries, first 0, non-decreasing
  std::span<const std::int32_t> cu_k;
  double scale = 0;         // factor of the logits; 0 means 1/sqrt(head_dim)
  bool causal = true;       // if false, every query sees all keys of its sequence
  int value_dim = 0;        // channels of v and o; 0 means head_dim
  std::int64_t window = 0;  // keys that a query sees, at most; 0 means all. Requires `causal`
  // Soft cap (arXiv 2408.00118, section 2): a logit x becomes soft_cap * tanh(x / soft_cap). 0
  // means none.
  double soft_cap = 0;
  // Attention sinks (arXiv 2309.17453; gpt-oss): one logit per query head, which takes part in the
  // softmax and has no value. Empty means none; else `heads` entries.
  std::span<const float> sinks;
  // If not empty, one entry per sequence in place of Lk - Lq: query i sees key j when j <= i +
  // diagonals[b]. The parts of a sequence that the ranks of a ring hold are such rectangles.
  std::span<const std::int64_t> diagonals;
  // Query head h reads kv head (group_offset + h) / group_size. The defaults describe grouped-query
  // attention over whole groups. A rank that holds a range of heads may hold parts of two groups.
  int group_size = 0;  // 0 means heads / kv_heads
  int group_offset = 0;

  int queries_per_kv() const { return group_size > 0 ? group_size : heads / kv_heads; }
  int kv_head(int head) const { return (group_offset + head) / queries_per_kv(); }
  int value_width() const { return value_dim > 0 ? value_dim : head_dim; }
  // Query i of sequence b sees key j when i + diagonal(b) - visible() < j <= i + diagonal(b).
  std::int64_t diagonal(std::size_t b) const {
    if (!diagonals.empty()) return diagonals[b];
    const std::int64_t lk = cu_k[b + 1] - cu_k[b];
    return causal ? lk - (cu_q[b + 1] - cu_q[b]) : lk;
  }
  std::int64_t visible() const { return window > 0 ? window : kEveryKey; }
  double logit_scale() const;  // the factor of the logits: `scale`, or its default
  std::int64_t q_size() const { return total_q * heads * head_dim; }
  std::int64_t o_size() const { return total_q * heads * value_width(); }
  std::int64_t k_size() const { return total_k * kv_heads * head_dim; }
  std::int64_t v_size() const { return total_k * kv_heads * value_width(); }
  std::int64_t logarithms() const { return total_q * heads; }  // entries of either half of lse
  std::int64_t lse_size() const { return 2 * logarithms(); }
};

// The layout of the gradients of a kv head that serves several query heads.
enum class KvGradients {
  per_kv_head,     // (total_k, kv_heads, channels): summed over query heads in head order
  per_query_head,  // (total_k, heads, channels): not summed; sum_kv_gradients() finishes
};

// The arrays that backward reads: the inputs, the outputs of forward, and the gradient of o.
struct AttentionBackwardInput {
  std::span<const float> q, k, v, o, lse, upstream;
};

// Returns the errors of a shape, one sentence each; empty for a valid shape. The kernels do not
// check shapes: with an invalid shape they read out of bounds. Zero heads are valid, since a rank
// may hold no heads.
std::vector<std::string> check(const AttentionShape& shape);

// Checks the rules of the prefix sums alone. `total` is the number of rows of the array, and the
// messages contain `name`.
std::vector<std::string> check_cu_seqlens(std::span<const std::int32_t> cu, std::int64_t total,
                                          const std::string& name);

// Returns the size of the workspace of each pass, in floats.
std::int64_t forward_workspace(const AttentionShape& shape);
std::int64_t backward_workspace(const AttentionShape& shape);

// Writes all of o (total_q, heads, value_dim) and lse (2, heads, total_q).
void attention_forward(const AttentionShape& shape, std::span<const float> q,
                       std::span<const float> k, std::span<const float> v, std::span<float> o,
                       std::span<float> lse, std::span<float> workspace);

// Writes all of dq, dk and dv. Outputs must not overlap inputs.
void attention_backward(const AttentionShape& shape, const AttentionBackwardInput& input,
                        KvGradients mode, std::span<float> dq, std::span<float> dk,
                        std::span<float> dv, std::span<float> workspace);

// Writes the gradients of the sinks, `heads` entries: -sum over queries of exp(sink - lse) (o .
// do). Ranks that hold different queries add theirs up.
void sink_gradients(const AttentionShape& shape, const AttentionBackwardInput& input,
                    std::span<double> gradients);

// Converts (rows, heads, head_dim) to (rows, kv_heads, head_dim) by adding the heads/kv_heads query
// heads of each kv head in head order. KvGradients::per_kv_head uses the same order, so the results
// have the same bits.
void sum_kv_gradients(std::int64_t rows, int heads, int kv_heads, int head_dim,
                      std::span<const float> per_query_head, std::span<float> per_kv_head);

}  // namespace stowage::kernels
