#include "kernels/block/block_program.h"

#include <algorithm>

#include "kernels/block/linear.h"
#include "kernels/block/rms_norm.h"
#include "kernels/block/swiglu.h"

namespace stowage::kernels {

BlockProgram::BlockProgram(const BlockShape& shape, std::int64_t tokens, int layers,
                           const AttentionMemory& attention)
    : shape_(shape), tokens_(tokens), layers_(layers), attention_(attention) {
  int x = tensor("x", tokens * shape.hidden);
  step("input", {.writes = {x}}, [x](const Operands& t, const BlockCall& call) {
    std::ranges::copy(call.x, t.out(x).begin());
  });
  std::vector<Saved> saved;
  for (int layer = 0; layer < layers; ++layer) {
    pass_ = 1 + layer;
    prefix_ = std::to_string(layer) + '.';
    Saved& s = saved.emplace_back(Saved{.x = x});
    forward_attention(layer, s);
    x = forward_ffn(layer, s);
  }
  pass_ = 0;
  prefix_.clear();
  step("output", {.reads = {x}}, [y = x](const Operands& t, const BlockCall& call) {
    std::ranges::copy(t.in(y), call.y.begin());
  });
  backward_ = static_cast<int>(steps_.size());
  int dy = tensor("d_y", tokens * shape.hidden);
  step("upstream", {.writes = {dy}}, [dy](const Operands& t, const BlockCall& call) {
    std::ranges::copy(call.upstream, t.out(dy).begin());
  });
  for (int layer = layers - 1; layer >= 0; --layer) {
    pass_ = 2 * layers - layer;
    prefix_ = std::to_string(layer) + '.';
    dy = backward_attention(layer, saved[layer], backward_ffn(layer, saved[layer], dy));
  }
  pass_ = 0;
  step("input gradient", {.reads = {dy}}, [dx = dy](const Operands& t, const BlockCall& call) {
    std::ranges::copy(t.in(dx), call.dx.begin());
  });
  settle_lifetimes();
}

int BlockProgram::tensor(const char* name, std::int64_t floats) {
  tensors_.push_back({.name = prefix_ + name, .floats = floats, .first = -1, .last = -1});
  return static_cast<int>(tensors_.size()) - 1;
}

void BlockProgram::step(const char* name, StepOperands operands, Compute compute) {
  steps_.push_back({.name = prefix_ + name,
                    .operands = std::move(operands),
                    .compute = std::move(compute),
                    .pass = pass_,
                    .begins = {},
                    .ends = {}});
}

// a = x + attention(rope(norm(x) Wq), rope(norm(x) Wk), norm(x) Wv) Wo
void BlockProgram::forward_attention(int layer, Saved& s) {
  const std::int64_t n = tokens_;
  const int hidden = shape_.hidden;
  const std::int64_t q_width = shape_.q_width(), k_width = shape_.k_width();
  const double epsilon = shape_.norm_epsilon;
  s.x_norm = tensor("x_norm", n * hidden);
  s.x_inverse_rms = tensor("x_inverse_rms", n);
  step("attention_norm", {.reads = {s.x}, .writes = {s.x_norm, s.x_inverse_rms}},
       [=](const Operands& t, const BlockCall& call) {
         rms_norm_forward(n, hidden, epsilon, t.in(s.x), call.weights[layer].attention_norm,
                          t.out(s.x_norm), t.out(s.x_inverse_rms));
       });
  s.q = tensor("q", n * q_width);
  s.k = tensor("k", n * k_width);
  s.v = tensor("v", n * k_width);
  step("query", {.reads = {s.x_norm}, .writes = {s.q}},
       [=](const Operands& t, const BlockCall& call) {
         linear_forward(n, hidden, q_width, t.in(s.x_norm), call.weights[layer].query, t.out(s.q),
                        Update::assign);
       });
  step("key", {.reads = {s.x_norm}, .writes = {s.k}},
       [=](const Operands& t, const BlockCall& call) {
         linear_forward(n, hidden, k_width, t.in(s.x_norm), call.weights[layer].key, t.out(s.k),
                        Update::assign);
       });
  step("value", {.reads = {s.x_norm}, .writes = {s.v}},
       [=](const Operands& t, const BlockCall& call) {
         linear_forward(n, hidden, k_width, t.in(s.x_norm), call.weights[layer].value, t.out(s.v),
                        Update::assign);
       });
  step("rotate", {.updates = {s.q, s.k}},
       [=, heads = shape_.heads, kv_heads = shape_.kv_heads](const Operands& t,
                                                             const BlockCall& call) {
         rotate(call.rotary, heads, t.out(s.q), Turn::forward);
         rotate(call.rotary, kv_heads, t.out(s.k), Turn::forward);
       });
  s.o = tensor("o", n * q_width);
  s.sums = tensor("lse", attention_.sums);
  const int scratch = tensor("attention_scratch", attention_.forward_scratch);
  step("attention", {.reads = {s.q, s.k, s.v}, .writes = {s.o, s.sums, scratch}},
       [=](const Operands& t, const BlockCall& call) {
         call.attention.forward(t.in(s.q), t.in(s.k), t.in(s.v),
                                {.o = t.out(s.o), .sums = t.out(s.sums)}, t.out(scratch));
       });
  s.a = tensor("a", n * hidden);
  step("attention_output", {.reads = {s.x, s.o}, .writes = {s.a}},
       [=](const Operands& t, const BlockCall& call) {
         std::ranges::copy(t.in(s.x), t.out(s.a).begin());
         linear_forward(n, q_width, hidden, t.in(s.o), call.weights[layer].output, t.out(s.a),
                        Update::add);
       });
}

// y = a + swiglu(norm(a)) Wdown; returns y.
int BlockProgram::forward_ffn(int layer, Saved& s) {
  const std::int64_t n = tokens_;
  const int hidden = shape_.hidden, ffn = shape_.ffn;
  const double epsilon = shape_.norm_epsilon;
  s.a_norm = tensor("a_norm", n * hidden);
  s.a_inverse_rms = tensor("a_inverse_rms", n);
  step("ffn_norm", {.reads = {s.a}, .writes = {s.a_norm, s.a_inverse_rms}},
       [=](const Operands& t, const BlockCall& call) {
         rms_norm_forward(n, hidden, epsilon, t.in(s.a), call.weights[layer].ffn_norm,
                          t.out(s.a_norm), t.out(s.a_inverse_rms));
       });
  s.gate = tensor("gate", n * ffn);
  s.up = tensor("up", n * ffn);
  step("gate", {.reads = {s.a_norm}, .writes = {s.gate}},
       [=](const Operands& t, const BlockCall& call) {
         linear_forward(n, hidden, ffn, t.in(s.a_norm), call.weights[layer].gate, t.out(s.gate),
                        Update::assign);
       });
  step("up", {.reads = {s.a_norm}, .writes = {s.up}},
       [=](const Operands& t, const BlockCall& call) {
         linear_forward(n, hidden, ffn, t.in(s.a_norm), call.weights[layer].up, t.out(s.up),
                        Update::assign);
       });
  s.product = tensor("product", n * ffn);
  step("swiglu", {.reads = {s.gate, s.up}, .writes = {s.product}},
       [=](const Operands& t, const BlockCall&) {
         swiglu_forward(t.in(s.gate), t.in(s.up), t.out(s.product));
       });
  const int y = tensor("y", n * hidden);
  step("down", {.reads = {s.a, s.product}, .writes = {y}},
       [=](const Operands& t, const BlockCall& call) {
         std::ranges::copy(t.in(s.a), t.out(y).begin());
         linear_forward(n, ffn, hidden, t.in(s.product), call.weights[layer].down, t.out(y),
                        Update::add);
       });
  return y;
}

// The gradient of a from that of y.
int BlockProgram::backward_ffn(int layer, const Saved& s, int dy) {
  const std::int64_t n = tokens_;
  const int hidden = shape_.hidden, ffn = shape_.ffn;
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

// The gradient of x from that of a.
int BlockProgram::backward_attention(int layer, const Saved& s, int d_a) {
  const std::int64_t n = tokens_;
  const int hidden = shape_.hidden;
  const std::int64_t q_width = shape_.q_width(), k_width = shape_.k_width();
  const int d_o = tensor("d_o", n * q_width);
  step("d_attention_output", {.reads = {s.o, d_a}, .writes = {d_o}},
       [=](const Operands& t, const BlockCall& call) {
         linear_backward(n, q_width, hidden, t.in(s.o), call.weights[layer].output, t.in(d_a),
                         t.out(d_o), Update::assign, call.gradients[layer].output);
       });
  const int d_q = tensor("d_q", n * q_width);
  const int d_k = tensor("d_k", n * k_width), d_v = tensor("d_v", n * k_width);
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
         linear_backward(n, hidden, k_width, t.in(s.x_norm), call.weights[layer].value, t.in(d_v),
                         t.out(d_x_norm), Update::add, call.gradients[layer].value);
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

void BlockProgram::settle_lifetimes() {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const int now = static_cast<int>(i);
    const StepOperands& operands = steps_[i].operands;
    for (const auto* list : {&operands.reads, &operands.writes, &operands.updates}) {
      for (const int t : *list) {
        if (tensors_[t].first < 0) tensors_[t].first = now;
        tensors_[t].last = now;
      }
    }
  }
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    steps_[tensors_[i].first].begins.push_back(static_cast<int>(i));
    steps_[tensors_[i].last].ends.push_back(static_cast<int>(i));
  }
}

std::vector<std::vector<std::int64_t>> BlockProgram::inside(int first_pass) const {
  std::vector<std::vector<std::int64_t>> found(layers_);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const int pass = steps_[tensors_[i].first].pass;
    if (pass < first_pass || pass >= first_pass + layers_) continue;
    if (steps_[tensors_[i].last].pass != pass) continue;
    found[pass - first_pass].push_back(static_cast<std::int64_t>(i));
  }
  return found;
}

std::vector<std::vector<std::int64_t>> BlockProgram::inside_forward() const { return inside(1); }
std::vector<std::vector<std::int64_t>> BlockProgram::inside_backward() const {
  return inside(1 + layers_);
}

void BlockProgram::run(StepRange steps, TensorMemory& memory, const BlockCall& call) const {
  for (int i = steps.begin; i < steps.end; ++i) {
    const Step& now = steps_[i];
    for (const int t : now.begins) memory.begin(t);
    now.compute(Operands(memory, now.operands), call);
    for (const int t : now.ends) memory.end(t);
    memory.stepped(i);
  }
}

}  // namespace stowage::kernels
