// The backward pass of a layer: the second part of block_program.h.
#include <algorithm>

#include "kernels/block/operation/linear.h"
#include "kernels/block/operation/rms_norm.h"
#include "kernels/block/operation/swiglu.h"
#include "kernels/block/program/block_program.h"

namespace stowage::kernels {

// Recomputes silu(gate) * up.
int BlockProgram::product_again(const Saved& s) {
  const int product = tensor("product_again", tokens_ * shape_.ffn);
  step("swiglu_again", {.reads = {s.gate, s.up}, .writes = {product}},
       [gate = s.gate, up = s.up, product](const Operands& t, const BlockCall&) {
         swiglu_forward(t.in(gate), t.in(up), t.out(product));
       });
  return product;
}

// Recomputes the norm of x, or of a.
BlockProgram::Norm BlockProgram::norm_again(const std::string& of, int x, Gain gain) {
  const Norm again{.norm = tensor((of + "_norm_again").c_str(), tokens_ * shape_.hidden),
                   .inverse_rms = tensor((of + "_inverse_rms_again").c_str(), tokens_)};
  step((of + "_norm_again").c_str(), {.reads = {x}, .writes = {again.norm, again.inverse_rms}},
       [=, n = tokens_, hidden = shape_.hidden, epsilon = shape_.norm_epsilon,
        gain = std::move(gain)](const Operands& t, const BlockCall& call) {
         rms_norm_forward(n, hidden, epsilon, t.in(x), gain(call), t.out(again.norm),
                          t.out(again.inverse_rms));
       });
  return again;
}

// Computes the gradient of a from the gradient of y.
int BlockProgram::backward_ffn(int layer, Saved s, int dy) {
  const std::int64_t n = tokens_;
  const int hidden = shape_.hidden, ffn = shape_.ffn;
  if (keeps_ == BlockKeeps::products) s.product = product_again(s);
  const int d_product = tensor("d_product", n * ffn);
  step("d_down", {.reads = {s.product, dy}, .writes = {d_product}},
       [=](const Operands& t, const BlockCall& call) {
         linear_backward(n, ffn, hidden, t.in(s.product), call.weights[layer].down, t.in(dy),
                         t.out(d_product), Update::assign, call.gradients[layer].down);
       });
  const int d_gate = tensor("d_gate", n * ffn), d_up = tensor("d_up", n * ffn);
  step("d_swiglu", {.reads = {s.gate, s.up, d_product}, .writes = {d_gate, d_up}},
       [=](const Operands& t, const BlockCall&) {
         swiglu_backward(t.in(s.gate), t.in(s.up), t.in(d_product), t.out(d_gate), t.out(d_up));
       });
  if (keeps_ == BlockKeeps::products) {
    const Norm again = norm_again("a", s.a, [layer](const BlockCall& call) {
      return std::span(call.weights[layer].ffn_norm);
    });
    s.a_norm = again.norm;
    s.a_inverse_rms = again.inverse_rms;
  }
  const int d_a_norm = tensor("d_a_norm", n * hidden);
  step("d_gate", {.reads = {s.a_norm, d_gate}, .writes = {d_a_norm}},
       [=](const Operands& t, const BlockCall& call) {
         linear_backward(n, hidden, ffn, t.in(s.a_norm), call.weights[layer].gate, t.in(d_gate),
                         t.out(d_a_norm), Update::assign, call.gradients[layer].gate);
       });
  step("d_up", {.reads = {s.a_norm, d_up}, .updates = {d_a_norm}},
       [=](const Operands& t, const BlockCall& call) {
         linear_backward(n, hidden, ffn, t.in(s.a_norm), call.weights[layer].up, t.in(d_up),
                         t.out(d_a_norm), Update::add, call.gradients[layer].up);
         if (call.peers != nullptr) call.peers->all_reduce(t.out(d_a_norm));
       });
  const int d_a = tensor("d_a", n * hidden);
  step("d_ffn_norm", {.reads = {s.a, s.a_inverse_rms, d_a_norm, dy}, .writes = {d_a}},
       [=](const Operands& t, const BlockCall& call) {
         std::ranges::copy(t.in(dy), t.out(d_a).begin());
         rms_norm_backward(n, hidden, t.in(s.a), call.weights[layer].ffn_norm,
                           t.in(s.a_inverse_rms), t.in(d_a_norm), t.out(d_a),
                           call.gradients[layer].ffn_norm);
       });
  return d_a;
}

// Computes the gradient of x from the gradient of a.
int BlockProgram::backward_attention(int layer, Saved s, int d_a) {
  const std::int64_t n = tokens_;
  const int hidden = shape_.hidden;
  const std::int64_t q_width = shape_.q_width(), k_width = shape_.k_width();
  const std::int64_t v_width = shape_.v_width(), o_width = shape_.o_width();
  const int d_o = tensor("d_o", n * o_width);
  step("d_attention_output", {.reads = {s.o, d_a}, .writes = {d_o}},
       [=](const Operands& t, const BlockCall& call) {
         linear_backward(n, o_width, hidden, t.in(s.o), call.weights[layer].output, t.in(d_a),
                         t.out(d_o), Update::assign, call.gradients[layer].output);
       });
  const int d_q = tensor("d_q", n * q_width);
  const int d_k = tensor("d_k", n * k_width), d_v = tensor("d_v", n * v_width);
  const int scratch = tensor("d_attention_scratch", attention_.backward_scratch);
  step("d_attention",
       {.reads = {s.q, s.k, s.v, s.o, s.sums, d_o}, .writes = {d_q, d_k, d_v, scratch}},
       [=](const Operands& t, const BlockCall& call) {
         call.attention.backward({.q = t.in(s.q),
                                  .k = t.in(s.k),
                                  .v = t.in(s.v),
                                  .o = t.in(s.o),
                                  .lse = t.in(s.sums),
                                  .upstream = t.in(d_o)},
                                 t.out(d_q), t.out(d_k), t.out(d_v), t.out(scratch));
       });
  step("d_rotate", {.updates = {d_q, d_k}},
       [=, heads = shape_.heads, kv_heads = shape_.kv_heads](const Operands& t,
                                                             const BlockCall& call) {
         rotate(call.rotary, heads, t.out(d_q), Turn::backward);
         rotate(call.rotary, kv_heads, t.out(d_k), Turn::backward);
       });
  if (keeps_ == BlockKeeps::products) {
    const Norm again = norm_again("x", s.x, [layer](const BlockCall& call) {
      return std::span(call.weights[layer].attention_norm);
    });
    s.x_norm = again.norm;
    s.x_inverse_rms = again.inverse_rms;
  }
  const int d_x_norm = tensor("d_x_norm", n * hidden);
  step("d_query", {.reads = {s.x_norm, d_q}, .writes = {d_x_norm}},
       [=](const Operands& t, const BlockCall& call) {
         linear_backward(n, hidden, q_width, t.in(s.x_norm), call.weights[layer].query, t.in(d_q),
                         t.out(d_x_norm), Update::assign, call.gradients[layer].query);
       });
  step("d_key", {.reads = {s.x_norm, d_k}, .updates = {d_x_norm}},
       [=](const Operands& t, const BlockCall& call) {
         linear_backward(n, hidden, k_width, t.in(s.x_norm), call.weights[layer].key, t.in(d_k),
                         t.out(d_x_norm), Update::add, call.gradients[layer].key);
       });
  step("d_value", {.reads = {s.x_norm, d_v}, .updates = {d_x_norm}},
       [=](const Operands& t, const BlockCall& call) {
         linear_backward(n, hidden, v_width, t.in(s.x_norm), call.weights[layer].value, t.in(d_v),
                         t.out(d_x_norm), Update::add, call.gradients[layer].value);
         if (call.peers != nullptr) call.peers->all_reduce(t.out(d_x_norm));
       });
  const int d_x = tensor("d_x", n * hidden);
  step("d_attention_norm", {.reads = {s.x, s.x_inverse_rms, d_x_norm, d_a}, .writes = {d_x}},
       [=](const Operands& t, const BlockCall& call) {
         std::ranges::copy(t.in(d_a), t.out(d_x).begin());
         rms_norm_backward(n, hidden, t.in(s.x), call.weights[layer].attention_norm,
                           t.in(s.x_inverse_rms), t.in(d_x_norm), t.out(d_x),
                           call.gradients[layer].attention_norm);
       });
  return d_x;
}

}  // namespace stowage::kernels
