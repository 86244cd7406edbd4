// The forward and backward passes of attention.h, as loops over units of work.
#include <algorithm>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention_units.h"
#include "kernels/attention/simd/isa.h"
#include "kernels/attention/simd/table.h"

namespace stowage::kernels {

std::int64_t forward_workspace(const AttentionShape& shape) {
  const std::int64_t dim = shape.head_dim;
  return (2 * shape.total_k + kMaxLanes) * dim + kKeyBlock * kGemmColumns +
         (2 * dim + 2) * kQueryBlock + 64;
}

std::int64_t backward_workspace(const AttentionShape& shape) {
  const std::int64_t dim = shape.head_dim;
  const std::int64_t padded = (dim + kMaxLanes - 1) / kMaxLanes * kMaxLanes;
  return shape.total_k * (3 * dim + 2 * padded) + 2 * kMaxLanes * dim +
         (3 * dim + 2 * padded + 4 + 2 * kBackwardKeys) * kBackwardQueries + 16 * kMaxLanes;
}

void attention_forward(const AttentionShape& shape, std::span<const float> q,
                       std::span<const float> k, std::span<const float> v, std::span<float> o,
                       std::span<float> lse, std::span<float> workspace) {
  clear_forward_slack(shape, o, lse);
  ForwardUnits units(shape, {.q = q, .keys = keys_by_token(shape, k, v), .o = o, .lse = lse}, 0);
  while (units.next()) units.run(workspace);
}

void attention_backward(const AttentionShape& shape, const AttentionBackwardInput& input,
                        KvGradients mode, std::span<float> dq, std::span<float> dk,
                        std::span<float> dv, std::span<float> workspace) {
  clear_backward_slack(shape, mode, dq, dk, dv);
  BackwardUnits units(shape, input, mode, {.dq = dq, .dk = dk, .dv = dv});
  while (units.next()) units.run(workspace);
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
