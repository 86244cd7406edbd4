// The forward and backward passes of attention.h, as loops over units of work.
#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention_units.h"
#include "kernels/attention/shared_units.h"
#include "kernels/attention/simd/isa.h"
#include "kernels/attention/simd/table.h"

namespace stowage::kernels {
namespace {

// Floats that aligning an array may skip.
constexpr std::int64_t kAligned = kMaxLanes;

// Returns the number of keys of the longest sequence; all keys if the shape has no cu_k, as where a
// program is planned whose sequences are not known yet.
std::int64_t longest_keys(const AttentionShape& shape) {
  if (shape.cu_k.empty()) return shape.total_k;
  std::int64_t longest = 0;
  for (std::size_t b = 0; b + 1 < shape.cu_k.size(); ++b) {
    longest = std::max<std::int64_t>(longest, shape.cu_k[b + 1] - shape.cu_k[b]);
  }
  return longest;
}

}  // namespace

std::int64_t forward_workspace(const AttentionShape& shape) {
  const std::int64_t dim = shape.head_dim, value_dim = shape.value_width();
  const std::int64_t keys = longest_keys(shape);
  const std::int64_t packed_keys = (keys + kMaxLanes) * dim;  // a rest fills up a vector
  const std::int64_t values = keys * value_dim;
  const std::int64_t logits = kKeyBlock * kMostPanel;
  const std::int64_t of_query = dim + value_dim + 2;  // q, o, the maximum and the sum
  return packed_keys + values + logits + of_query * forward_queries(keys, dim + value_dim) +
         4 * kAligned;
}

std::int64_t backward_workspace(const AttentionShape& shape) {
  const std::int64_t dim = shape.head_dim, value_dim = shape.value_width();
  const std::int64_t keys = longest_keys(shape);
  const std::int64_t rows = grad_row(dim) + grad_row(value_dim);
  const std::int64_t key_rows = keys * dim;
  const std::int64_t packed = (keys + kMaxLanes) * (dim + value_dim);
  const std::int64_t gradients = keys * rows;
  const std::int64_t of_query = dim + value_dim + rows      // q and upstream, in lanes and in rows
                                + std::max(dim, value_dim)  // dq, and o while delta is computed
                                + 2 * kBackwardKeys         // p and ds
                                + 4;                        // lse, its rest, delta, a factor
  return key_rows + packed + gradients + of_query * backward_queries(keys, dim + value_dim) +
         16 * kAligned;
}

void attention_forward(const AttentionShape& shape, std::span<const float> q,
                       std::span<const float> k, std::span<const float> v, std::span<float> o,
                       std::span<float> lse, std::span<float> workspace) {
  clear_forward_slack(shape, o, lse);
  const ForwardArrays arrays = {.q = q, .keys = keys_by_token(shape, k, v), .o = o, .lse = lse};
  run_units(shape, ForwardUnits(shape, arrays, unit_queries()), workspace);
}

void attention_backward(const AttentionShape& shape, const AttentionBackwardInput& input,
                        KvGradients mode, std::span<float> dq, std::span<float> dk,
                        std::span<float> dv, std::span<float> workspace) {
  clear_backward_slack(shape, mode, dq, dk, dv);
  // A thread alone allocates nothing, and adds the heads up in their order anyway.
  std::optional<OrderedReduction> turns;
  if (Workers::of_this_thread() != nullptr) turns.emplace(HeadGroups::most(shape));
  const AttentionGradientArrays out = {.dq = dq, .dk = dk, .dv = dv};
  run_units(shape, BackwardUnits(shape, input, mode, out, turns ? &*turns : nullptr), workspace);
}

void sink_gradients(const AttentionShape& shape, const AttentionBackwardInput& input,
                    std::span<double> gradients) {
  const std::int64_t width = shape.value_width();
  std::fill(gradients.begin(), gradients.end(), 0.0);
  for (std::int64_t row = 0; row < shape.cu_q.back(); ++row) {
    for (int h = 0; h < shape.heads; ++h) {
      const std::int64_t at = (row * shape.heads + h) * width;
      double delta = 0;
      for (std::int64_t d = at; d < at + width; ++d)
        delta += double{input.o[d]} * input.upstream[d];
      const std::int64_t sum = h * shape.total_q + row;
      const double lse = double{input.lse[sum]} + input.lse[shape.logarithms() + sum];
      const std::size_t head = static_cast<std::size_t>(h);
      gradients[head] -= std::exp(shape.sinks[head] - lse) * delta;
    }
  }
}

void sum_kv_gradients(std::int64_t row_count, int heads, int kv_heads, int head_dim,
                      std::span<const float> per_query_head, std::span<float> per_kv_head) {
  const int group = heads / kv_heads;
  for (std::int64_t row = 0; row < row_count; ++row) {
    for (int h = 0; h < heads; ++h) {
      const float* from = &per_query_head[(row * heads + h) * head_dim];
      float* to = &per_kv_head[(row * kv_heads + h / group) * head_dim];
      if (h % group == 0) {
        std::copy_n(from, head_dim, to);
      } else {
        for (int d = 0; d < head_dim; ++d) to[d] += from[d];
      }
    }
  }
}

}  // namespace stowage::kernels
