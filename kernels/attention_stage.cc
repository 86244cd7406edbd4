#include "kernels/attention_stage.h"

#include <algorithm>

namespace stowage::kernels {

LocalAttention::LocalAttention(const AttentionShape& shape)
    : shape_(shape),
      q_(shape.q_size()),
      k_(shape.k_size()),
      v_(shape.k_size()),
      o_(shape.q_size()),
      lse_(shape.lse_size()),
      workspace_(std::max(forward_workspace(shape), backward_workspace(shape))) {}

void LocalAttention::forward(std::span<const float> q, std::span<const float> k,
                             std::span<const float> v, std::span<float> o) {
  std::ranges::copy(q, q_.begin());
  std::ranges::copy(k, k_.begin());
  std::ranges::copy(v, v_.begin());
  attention_forward(shape_, q_, k_, v_, o_, lse_, workspace_);
  std::ranges::copy(o_, o.begin());
}

void LocalAttention::backward(std::span<const float> upstream, std::span<float> dq,
                              std::span<float> dk, std::span<float> dv) {
  attention_backward(shape_,
                     {.q = q_, .k = k_, .v = v_, .o = o_, .lse = lse_, .upstream = upstream},
                     KvGradients::per_kv_head, dq, dk, dv, workspace_);
}

}  // namespace stowage::kernels
