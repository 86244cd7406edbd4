#include "kernels/block.h"

#include <algorithm>

#include "kernels/linear.h"
#include "kernels/rms_norm.h"
#include "kernels/swiglu.h"

namespace stowage::kernels {

BlockPass::BlockPass(const BlockShape& shape, std::span<const std::int32_t> positions)
    : shape_(shape), rotary_(positions, shape.head_dim, shape.rope_theta) {
  const std::int64_t n = tokens();
  for (auto* v : {&x_, &x_norm_, &a_, &a_norm_, &da_, &dnorm_}) v->resize(n * shape.hidden);
  for (auto* v : {&x_inverse_rms_, &a_inverse_rms_}) v->resize(n);
  for (auto* v : {&q_, &o_, &dq_, &do_}) v->resize(n * shape.q_width());
  for (auto* v : {&k_, &v_, &dk_, &dv_}) v->resize(n * shape.k_width());
  for (auto* v : {&gate_, &up_, &product_, &dgate_, &dup_, &dproduct_}) v->resize(n * shape.ffn);
}

void BlockPass::forward(const BlockWeights<float>& w, std::span<const float> x,
                        AttentionStage& attention, std::span<float> y) {
  const std::int64_t n = tokens();
  const int hidden = shape_.hidden;
  std::ranges::copy(x, x_.begin());
  rms_norm_forward(n, hidden, shape_.norm_epsilon, x_, w.attention_norm, x_norm_, x_inverse_rms_);
  linear_forward(n, hidden, shape_.q_width(), x_norm_, w.query, q_, Update::assign);
  linear_forward(n, hidden, shape_.k_width(), x_norm_, w.key, k_, Update::assign);
  linear_forward(n, hidden, shape_.k_width(), x_norm_, w.value, v_, Update::assign);
  rotate(rotary_, shape_.heads, q_, Turn::forward);
  rotate(rotary_, shape_.kv_heads, k_, Turn::forward);
  attention.forward(q_, k_, v_, o_);
  a_ = x_;
  linear_forward(n, shape_.q_width(), hidden, o_, w.output, a_, Update::add);
  rms_norm_forward(n, hidden, shape_.norm_epsilon, a_, w.ffn_norm, a_norm_, a_inverse_rms_);
  linear_forward(n, hidden, shape_.ffn, a_norm_, w.gate, gate_, Update::assign);
  linear_forward(n, hidden, shape_.ffn, a_norm_, w.up, up_, Update::assign);
  swiglu_forward(gate_, up_, product_);
  std::ranges::copy(a_, y.begin());
  linear_forward(n, shape_.ffn, hidden, product_, w.down, y, Update::add);
}

void BlockPass::backward(const BlockWeights<float>& w, std::span<const float> upstream,
                         AttentionStage& attention, std::span<float> dx,
                         BlockWeights<float>& gradient) {
  const std::int64_t n = tokens();
  const int hidden = shape_.hidden;
  // The second half: y = a + swiglu(norm(a)) Wdown.
  linear_backward(n, shape_.ffn, hidden, product_, w.down, upstream, dproduct_, Update::assign,
                  gradient.down);
  swiglu_backward(gate_, up_, dproduct_, dgate_, dup_);
  linear_backward(n, hidden, shape_.ffn, a_norm_, w.gate, dgate_, dnorm_, Update::assign,
                  gradient.gate);
  linear_backward(n, hidden, shape_.ffn, a_norm_, w.up, dup_, dnorm_, Update::add, gradient.up);
  std::ranges::copy(upstream, da_.begin());
  rms_norm_backward(n, hidden, a_, w.ffn_norm, a_inverse_rms_, dnorm_, da_, gradient.ffn_norm);
  // The first half: a = x + attention(norm(x)) Wo.
  linear_backward(n, shape_.q_width(), hidden, o_, w.output, da_, do_, Update::assign,
                  gradient.output);
  attention.backward(do_, dq_, dk_, dv_);
  rotate(rotary_, shape_.heads, dq_, Turn::backward);
  rotate(rotary_, shape_.kv_heads, dk_, Turn::backward);
  linear_backward(n, hidden, shape_.q_width(), x_norm_, w.query, dq_, dnorm_, Update::assign,
                  gradient.query);
  linear_backward(n, hidden, shape_.k_width(), x_norm_, w.key, dk_, dnorm_, Update::add,
                  gradient.key);
  linear_backward(n, hidden, shape_.k_width(), x_norm_, w.value, dv_, dnorm_, Update::add,
                  gradient.value);
  std::ranges::copy(da_, dx.begin());
  rms_norm_backward(n, hidden, x_, w.attention_norm, x_inverse_rms_, dnorm_, dx,
                    gradient.attention_norm);
}

}  // namespace stowage::kernels
