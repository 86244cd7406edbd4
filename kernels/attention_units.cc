#include "kernels/attention_units.h"

#include <algorithm>

#include "kernels/isa.h"
#include "kernels/simd_table.h"

namespace stowage::kernels {
namespace {

static_assert(kUnitQueries % kQueryBlock == 0);

std::int64_t q_stride(const AttentionShape& shape) {
  return std::int64_t{shape.heads} * shape.head_dim;
}
std::int64_t k_stride(const AttentionShape& shape) {
  return std::int64_t{shape.kv_heads} * shape.head_dim;
}
std::int64_t gradient_stride(const AttentionShape& shape, KvGradients mode) {
  return mode == KvGradients::per_query_head ? q_stride(shape) : k_stride(shape);
}

}  // namespace

void clear_forward_slack(const AttentionShape& shape, std::span<float> o, std::span<float> lse) {
  const std::int64_t used = shape.cu_q.back();
  std::fill(o.begin() + used * q_stride(shape), o.end(), 0.0f);
  for (int h = 0; h < shape.heads; ++h) {
    std::fill_n(lse.begin() + h * shape.total_q + used, shape.total_q - used, 0.0f);
  }
}

void clear_backward_slack(const AttentionShape& shape, KvGradients mode, std::span<float> dq,
                          std::span<float> dk, std::span<float> dv) {
  std::fill(dq.begin() + shape.cu_q.back() * q_stride(shape), dq.end(), 0.0f);
  const bool all_read =
      mode == KvGradients::per_query_head || (shape.heads > 0 && shape.kv_head(0) == 0 &&
                                              shape.kv_head(shape.heads - 1) == shape.kv_heads - 1);
  const std::int64_t used = all_read ? shape.cu_k.back() * gradient_stride(shape, mode) : 0;
  std::fill(dk.begin() + used, dk.end(), 0.0f);
  std::fill(dv.begin() + used, dv.end(), 0.0f);
}

bool HeadGroups::next() {
  if (last_head_ == shape_.heads) {
    if (shape_.heads == 0) return false;
    ++sequence_;
    last_head_ = 0;
  }
  if (sequence_ + 1 >= shape_.cu_q.size()) return false;
  first_head_ = last_head_;
  while (last_head_ < shape_.heads && shape_.kv_head(last_head_) == kv_head()) ++last_head_;
  return true;
}

bool ForwardUnits::next() {
  end_ = begin_;
  while (end_ == 0) {
    if (!groups_.next()) return false;
    end_ = groups_.queries();
  }
  begin_ = queries_ == 0 ? 0 : (end_ - 1) / queries_ * queries_;
  return true;
}

void ForwardUnits::run(std::span<float> workspace) const {
  const std::int64_t dim = shape_.head_dim;
  const std::int64_t q = groups_.first_query() * q_stride(shape_) + groups_.first_head() * dim;
  const std::int64_t k = groups_.first_key() * k_stride(shape_) + groups_.kv_head() * dim;
  simd_table().attention_forward(
      {.lq = groups_.queries(),
       .lk = groups_.keys(),
       .diagonal = shape_.diagonal(groups_.queries(), groups_.keys()),
       .first_query = begin_,
       .last_query = end_,
       .heads = groups_.heads(),
       .dim = shape_.head_dim,
       .scale = shape_.logit_scale(),
       .q = arrays_.q.data() + q,
       .k = arrays_.k.data() + k,
       .v = arrays_.v.data() + k,
       .q_stride = q_stride(shape_),
       .k_stride = k_stride(shape_),
       .o = arrays_.o.data() + q,
       .lse = arrays_.lse.data() + groups_.first_head() * shape_.total_q + groups_.first_query(),
       .lse_stride = shape_.total_q,
       .workspace = workspace.data()});
}

void BackwardUnits::run(std::span<float> workspace) const {
  const std::int64_t dim = shape_.head_dim;
  const std::int64_t q = groups_.first_query() * q_stride(shape_) + groups_.first_head() * dim;
  const std::int64_t k = groups_.first_key() * k_stride(shape_) + groups_.kv_head() * dim;
  const bool apart = mode_ == KvGradients::per_query_head;
  const std::int64_t grad_stride = gradient_stride(shape_, mode_);
  const std::int64_t grad =
      groups_.first_key() * grad_stride + (apart ? groups_.first_head() : groups_.kv_head()) * dim;
  simd_table().attention_backward(
      {.lq = groups_.queries(),
       .lk = groups_.keys(),
       .diagonal = shape_.diagonal(groups_.queries(), groups_.keys()),
       .heads = groups_.heads(),
       .dim = shape_.head_dim,
       .scale = shape_.logit_scale(),
       .q = input_.q.data() + q,
       .k = input_.k.data() + k,
       .v = input_.v.data() + k,
       .o = input_.o.data() + q,
       .lse = input_.lse.data() + groups_.first_head() * shape_.total_q + groups_.first_query(),
       .upstream = input_.upstream.data() + q,
       .q_stride = q_stride(shape_),
       .k_stride = k_stride(shape_),
       .lse_stride = shape_.total_q,
       .dq = out_.dq.data() + q,
       .dk = out_.dk.data() + grad,
       .dv = out_.dv.data() + grad,
       .grad_stride = grad_stride,
       .grad_head = apart ? dim : 0,
       .workspace = workspace.data()});
}

}  // namespace stowage::kernels
