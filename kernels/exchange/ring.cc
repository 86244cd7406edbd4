#include "kernels/exchange/ring.h"

#include <algorithm>
#include <cassert>

#include "kernels/attention/attention_units.h"
#include "kernels/attention/simd/table.h"

namespace stowage::kernels {

RingAttention::RingAttention(Communicator& world, RingOrder order, const AttentionShape& local,
                             KvGradients mode)
    : world_(world), order_(order), local_(local), mode_(mode) {
  assert(local.causal && local.cu_q.data() == local.cu_k.data());
  // A segment with keys and without queries, or with queries and without keys, describes pairs that
  // are masked.
  cu_all_ = {0}, cu_halves_ = {0}, cu_late_q_ = {0}, cu_late_k_ = {0};
  for (std::size_t b = 0; b + 1 < local.cu_q.size(); ++b) {
    const std::int32_t begin = local.cu_q[b], end = local.cu_q[b + 1];
    const std::int32_t middle = begin + (end - begin) / 2;
    cu_all_.insert(cu_all_.end(), {end, end});
    cu_halves_.insert(cu_halves_.end(), {middle, end});
    cu_late_q_.insert(cu_late_q_.end(), {middle, end});
    cu_late_k_.insert(cu_late_k_.end(), {begin, end});
  }
  own_ = local;
  own_.total_k = rows();
  own_.scale = local.logit_scale();
  own_.group_size = local.heads > 0 ? local.queries_per_kv() : 1;
  earlier_ = later_ = own_;
  earlier_.causal = later_.causal = false;
  if (order == RingOrder::zigzag) {
    earlier_.cu_q = cu_all_, earlier_.cu_k = cu_halves_;
    later_.cu_q = cu_late_q_, later_.cu_k = cu_late_k_;
  }
  sum_heads_ = mode == KvGradients::per_query_head ? own_.heads : own_.kv_heads;
  key_size_ = own_.k_size();
  sum_size_ = sum_heads_ * rows() * grad_row(own_.head_dim);
  for (auto* v : {&travelling_, &arriving_}) v->resize(2 * (key_size_ + sum_size_));
  delta_.resize(own_.logarithms());
  workspace_.resize(std::max(forward_workspace(own_), backward_workspace(own_)));
}

const AttentionShape* RingAttention::seen_of(int source) const {
  if (source == world_.rank()) return &own_;
  if (source < world_.rank()) return &earlier_;
  return order_ == RingOrder::zigzag ? &later_ : nullptr;
}

void RingAttention::load_keys(std::span<const float> k, std::span<const float> v) {
  const std::int64_t dim = own_.head_dim;
  for (std::int64_t row = 0; row < rows(); ++row) {
    for (int h = 0; h < own_.kv_heads; ++h) {
      const std::int64_t from = (row * own_.kv_heads + h) * dim, to = (h * rows() + row) * dim;
      std::copy_n(k.begin() + from, dim, travelling_.begin() + to);
      std::copy_n(v.begin() + from, dim, travelling_.begin() + key_size_ + to);
    }
  }
}

KeyArrays RingAttention::keys() const {
  return {.k = travelling_.data(),
          .v = travelling_.data() + key_size_,
          .token = own_.head_dim,
          .head = rows() * own_.head_dim};
}

void RingAttention::pass_on(std::int64_t skip, std::int64_t count) {
  const int size = world_.size(), me = world_.rank();
  world_.send_receive(std::span(travelling_).subspan(skip, count), (me + 1) % size,
                      std::span(arriving_).subspan(skip, count), (me + size - 1) % size);
  std::swap(travelling_, arriving_);
}

void RingAttention::forward(std::span<const float> q, std::span<const float> k,
                            std::span<const float> v, const StageOutput& output, std::span<float>) {
  const int size = world_.size();
  load_keys(k, v);
  clear_forward_slack(own_, output.o, output.sums);
  for (int step = 0; step < size; ++step) {
    const AttentionShape* seen = seen_of((world_.rank() + size - step) % size);
    if (seen != nullptr) {
      ForwardUnits units(
          *seen, {.q = q, .keys = keys(), .o = output.o, .lse = output.sums, .resume = step > 0},
          0);
      while (units.next()) units.run(workspace_);
    }
    if (step + 1 < size) pass_on(0, 2 * key_size_);
  }
}

void RingAttention::backward(const AttentionBackwardInput& input, std::span<float> dq,
                             std::span<float> dk, std::span<float> dv, std::span<float>) {
  const int size = world_.size();
  const std::int64_t dk_at = 2 * key_size_, dv_at = dk_at + sum_size_;
  load_keys(input.k, input.v);
  std::fill(travelling_.begin() + dk_at, travelling_.end(), 0.0f);
  clear_backward_slack(own_, mode_, dq, dk, dv);
  for (int step = 0; step < size; ++step) {
    const AttentionShape* seen = seen_of((world_.rank() + size - step) % size);
    if (seen != nullptr) {
      const std::span<float> sums = travelling_;
      BackwardUnits units(*seen, input, keys(), mode_,
                          {.dq = dq,
                           .add_to_dq = step > 0,
                           .delta = delta_,
                           .dk = sums.subspan(dk_at, sum_size_),
                           .dv = sums.subspan(dv_at, sum_size_),
                           .grad_head = rows() * grad_row(own_.head_dim)});
      while (units.next()) units.run(workspace_);
    }
    // In the last hop the gradients return to their rank; the keys are not needed there.
    if (step + 1 < size) {
      pass_on(0, 2 * (key_size_ + sum_size_));
    } else if (size > 1) {
      pass_on(dk_at, 2 * sum_size_);
    }
  }
  const std::span<const float> sums = travelling_;
  write_kv_gradients({.begin = 0,
                      .rows = rows(),
                      .total = rows(),
                      .heads = sum_heads_,
                      .dim = own_.head_dim,
                      .scale = own_.logit_scale()},
                     sums.subspan(dk_at, sum_size_), sums.subspan(dv_at, sum_size_), dk, dv);
}

}  // namespace stowage::kernels
