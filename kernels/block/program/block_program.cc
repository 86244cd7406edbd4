#include "kernels/block/program/block_program.h"

#include <algorithm>

#include "kernels/block/operation/linear.h"
#include "kernels/block/operation/rms_norm.h"
#include "kernels/block/operation/swiglu.h"

namespace stowage::kernels {
namespace {

// y = residual + x W. With peers, W holds this rank's rows of the matrix, and the product is summed
// over the ranks.
void residual_product(Communicator* peers, std::int64_t n, std::int64_t in, std::int64_t out,
                      std::span<const float> x, std::span<const float> w,
                      std::span<const float> residual, std::span<float> y) {
  if (peers == nullptr) {
    std::ranges::copy(residual, y.begin());
    return linear_forward(n, in, out, x, w, y, Update::add);
  }
  linear_forward(n, in, out, x, w, y, Update::assign);
  peers->all_reduce(y);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += residual[i];
}

}  // namespace

BlockProgram::BlockProgram(const BlockShape& shape, std::int64_t tokens, int layers,
                           const AttentionMemory& attention, BlockKeeps keeps)
    : shape_(shape), tokens_(tokens), layers_(layers), keeps_(keeps), attention_(attention) {
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
  const std::int64_t v_width = shape_.v_width(), o_width = shape_.o_width();
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
  s.v = tensor("v", n * v_width);
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
         linear_forward(n, hidden, v_width, t.in(s.x_norm), call.weights[layer].value, t.out(s.v),
                        Update::assign);
       });
  step("rotate", {.updates = {s.q, s.k}},
       [=, heads = shape_.heads, kv_heads = shape_.kv_heads](const Operands& t,
                                                             const BlockCall& call) {
         rotate(call.rotary, heads, t.out(s.q), Turn::forward);
         rotate(call.rotary, kv_heads, t.out(s.k), Turn::forward);
       });
  s.o = tensor("o", n * o_width);
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
         residual_product(call.peers, n, o_width, hidden, t.in(s.o), call.weights[layer].output,
                          t.in(s.x), t.out(s.a));
       });
}

// Computes and returns y = a + swiglu(norm(a)) Wdown.
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
         residual_product(call.peers, n, ffn, hidden, t.in(s.product), call.weights[layer].down,
                          t.in(s.a), t.out(y));
       });
  return y;
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
