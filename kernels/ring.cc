#include "kernels/ring.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace stowage::kernels {
namespace {

// Adds rows [begin, end) of `part` to those of `sum`.
void add_rows(std::int64_t begin, std::int64_t end, std::int64_t width, std::span<const float> part,
              std::span<float> sum) {
  for (std::int64_t i = begin * width; i < end * width; ++i) sum[i] += part[i];
}

}  // namespace

void merge_attention(std::int64_t rows, int heads, int head_dim, std::span<float> o,
                     std::span<float> lse, std::span<const float> other_o,
                     std::span<const float> other_lse) {
  constexpr float kBlind = -std::numeric_limits<float>::infinity();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (int h = 0; h < heads; ++h) {
      float& have = lse[h * rows + row];
      const float more = other_lse[h * rows + row];
      if (more == kBlind) continue;
      // lse = ln(e^have + e^more); the shares of both are taken from their difference, since
      // have - lse would lose the digits that a large lse has before the point.
      const float top = std::max(have, more);
      const float smaller = std::exp(std::min(have, more) - top);  // 0 if have is -inf
      const float larger_share = 1 / (1 + smaller), smaller_share = smaller / (1 + smaller);
      const float keep = have == top ? larger_share : smaller_share;
      const float take = have == top ? smaller_share : larger_share;
      float* to = &o[(row * heads + h) * head_dim];
      const float* from = &other_o[(row * heads + h) * head_dim];
      for (int d = 0; d < head_dim; ++d) to[d] = keep * to[d] + take * from[d];
      have = top + std::log1p(smaller);
    }
  }
}

RingAttention::RingAttention(Communicator& world, RingOrder order, const AttentionShape& local,
                             KvGradients mode)
    : world_(world), order_(order), local_(local), mode_(mode) {
  assert(local.causal && local.cu_q.data() == local.cu_k.data());
  // A segment with keys and no queries, or with queries and no keys, says what is not seen.
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
  own_.total_q = own_.total_k = rows();
  own_.scale = local.logit_scale();
  own_.group_size = local.heads > 0 ? local.queries_per_kv() : 1;
  earlier_ = later_ = own_;
  earlier_.causal = later_.causal = false;
  if (order == RingOrder::zigzag) {
    earlier_.cu_q = cu_all_, earlier_.cu_k = cu_halves_;
    later_.cu_q = cu_late_q_, later_.cu_k = cu_late_k_;
  }
  o_.resize(own_.q_size());
  lse_.resize(own_.lse_size());
  dq_.resize(own_.q_size());
  for (auto* v : {&dk_, &dv_}) {
    v->resize(mode == KvGradients::per_query_head ? own_.q_size() : own_.k_size());
  }
  for (auto* v : {&travelling_, &arriving_}) v->resize(2 * (own_.k_size() + dk_.size()));
  workspace_.resize(std::max(forward_workspace(own_), backward_workspace(own_)));
}

const AttentionShape* RingAttention::seen_of(int source) const {
  if (source == world_.rank()) return &own_;
  if (source < world_.rank()) return &earlier_;
  return order_ == RingOrder::zigzag ? &later_ : nullptr;
}

void RingAttention::pass_on(std::int64_t skip, std::int64_t count) {
  const int size = world_.size(), me = world_.rank();
  world_.send_receive(std::span(travelling_).subspan(skip, count), (me + 1) % size,
                      std::span(arriving_).subspan(skip, count), (me + size - 1) % size);
  std::swap(travelling_, arriving_);
}

void RingAttention::forward(std::span<const float> q, std::span<const float> k,
                            std::span<const float> v, const StageOutput& output, std::span<float>) {
  const std::int64_t keys = own_.k_size();
  const int size = world_.size();
  std::copy_n(k.begin(), keys, travelling_.begin());
  std::copy_n(v.begin(), keys, travelling_.begin() + keys);
  std::fill(output.o.begin(), output.o.end(), 0.0f);
  std::fill(output.sums.begin(), output.sums.end(), 0.0f);
  // sums is (heads, rows with slack); the steps' is (heads, rows).
  std::vector<float> sums(own_.lse_size(), -std::numeric_limits<float>::infinity());
  for (int step = 0; step < size; ++step) {
    const AttentionShape* seen = seen_of((world_.rank() + size - step) % size);
    if (seen != nullptr) {
      const auto keys_now = std::span<const float>(travelling_).first(keys);
      const auto values_now = std::span<const float>(travelling_).subspan(keys, keys);
      attention_forward(*seen, q, keys_now, values_now, o_, lse_, workspace_);
      merge_attention(rows(), own_.heads, own_.head_dim, output.o, sums, o_, lse_);
    }
    if (step + 1 < size) pass_on(0, 2 * keys);
  }
  for (int h = 0; h < own_.heads; ++h) {
    std::copy_n(sums.begin() + h * rows(), rows(), output.sums.begin() + h * local_.total_q);
  }
}

void RingAttention::backward(const AttentionBackwardInput& input, std::span<float> dq,
                             std::span<float> dk, std::span<float> dv, std::span<float>) {
  const std::int64_t keys = own_.k_size(), gradients = static_cast<std::int64_t>(dk_.size());
  const int size = world_.size();
  const std::int64_t query_width = std::int64_t{own_.heads} * own_.head_dim;
  const std::int64_t gradient_width = mode_ == KvGradients::per_query_head
                                          ? query_width
                                          : std::int64_t{own_.kv_heads} * own_.head_dim;
  std::copy_n(input.k.begin(), keys, travelling_.begin());
  std::copy_n(input.v.begin(), keys, travelling_.begin() + keys);
  std::fill(travelling_.begin() + 2 * keys, travelling_.end(), 0.0f);
  std::fill(dq.begin(), dq.end(), 0.0f);
  std::vector<float> sums(own_.lse_size());
  for (int h = 0; h < own_.heads; ++h) {
    std::copy_n(input.lse.begin() + h * local_.total_q, rows(), sums.begin() + h * rows());
  }
  for (int step = 0; step < size; ++step) {
    const AttentionShape* seen = seen_of((world_.rank() + size - step) % size);
    if (seen != nullptr) {
      AttentionBackwardInput part = input;
      part.k = std::span<const float>(travelling_).first(keys);
      part.v = std::span<const float>(travelling_).subspan(keys, keys);
      part.lse = sums;
      attention_backward(*seen, part, mode_, dq_, dk_, dv_, workspace_);
      // Where a segment has no keys or no queries there is nothing but zeros to add.
      const std::span<float> dk_sum = std::span(travelling_).subspan(2 * keys, gradients);
      const std::span<float> dv_sum = std::span(travelling_).subspan(2 * keys + gradients);
      for (std::size_t b = 0; b + 1 < seen->cu_q.size(); ++b) {
        const std::int32_t q = seen->cu_q[b], q_end = seen->cu_q[b + 1];
        const std::int32_t k = seen->cu_k[b], k_end = seen->cu_k[b + 1];
        if (q == q_end || k == k_end) continue;
        add_rows(q, q_end, query_width, dq_, dq);
        add_rows(k, k_end, gradient_width, dk_, dk_sum);
        add_rows(k, k_end, gradient_width, dv_, dv_sum);
      }
    }
    // The gradients' last hop takes them home; nobody needs the keys there.
    if (step + 1 < size) {
      pass_on(0, 2 * (keys + gradients));
    } else if (size > 1) {
      pass_on(2 * keys, 2 * gradients);
    }
  }
  std::fill(dk.begin(), dk.end(), 0.0f);
  std::fill(dv.begin(), dv.end(), 0.0f);
  std::copy_n(travelling_.begin() + 2 * keys, gradients, dk.begin());
  std::copy_n(travelling_.begin() + 2 * keys + gradients, gradients, dv.begin());
}

}  // namespace stowage::kernels
