// The attention and the backward pass of a training program.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernels/block/operation/linear.h"
#include "kernels/block/operation/rms_norm.h"
#include "kernels/block/operation/swiglu.h"
#include "kernels/block/program/training_program.h"

namespace stowage::kernels {
namespace {

// FLOP per channel of a (query, key) pair: 2 for the score, 2 for the weighted sum
constexpr double kForwardPairFlop = 4;
constexpr double kBackwardPairFlop = 10;

// The queries of a part against the keys up to the part's last key.
struct PartAttention {
  AttentionShape shape;  // without cu_q and cu_k
  std::vector<std::int32_t> cu_q, cu_k;
  std::vector<int> k, v;  // k and v of the parts of the sequence, up to this part

  AttentionShape now() const {
    AttentionShape with = shape;
    with.cu_q = cu_q;
    with.cu_k = cu_k;
    return with;
  }
  bool gathers() const { return k.size() > 1; }
  std::int64_t key_floats() const { return shape.total_k * shape.kv_heads * shape.head_dim; }

  // Returns the tensors concatenated in `to`, or the tensor itself if there is only one.
  std::span<const float> gathered(const Operands& t, const std::vector<int>& parts,
                                  std::span<float> to) const {
    if (!gathers()) return t.in(parts.front());
    auto at = to.begin();
    for (const int part : parts) at = std::ranges::copy(t.in(part), at).out;
    return to;
  }
};

// Allocates pieces of a scratch tensor from its end.
class Pieces {
 public:
  explicit Pieces(std::span<float> all) : left_(all) {}
  std::span<float> take(std::int64_t floats) {
    const std::span<float> piece = left_.last(static_cast<std::size_t>(floats));
    left_ = left_.first(left_.size() - piece.size());
    return piece;
  }
  std::span<float> rest() const { return left_; }

 private:
  std::span<float> left_;
};

template <class Part>
PartAttention attention_of(const BlockShape& block, const Part& part) {
  return {.shape = {.total_q = part.tokens,
                    .total_k = part.before + part.tokens,
                    .heads = block.heads,
                    .kv_heads = block.kv_heads,
                    .head_dim = block.head_dim,
                    .cu_q = {},
                    .cu_k = {}},
          .cu_q = part.cu_q,
          .cu_k = part.cu_k,
          .k = {},
          .v = {}};
}

}  // namespace

void TrainingProgram::attention(Saved& s) {
  const Part& part = parts_[part_];
  PartAttention its = attention_of(shape_, part);
  StepOperands operands{.reads = {s.q}, .writes = {}, .updates = {}};
  for (std::size_t p = part.first; p <= part_; ++p) {
    const Saved& saved = parts_[p].saved[static_cast<std::size_t>(layer_)];
    its.k.push_back(saved.k);
    its.v.push_back(saved.v);
    operands.reads.insert(operands.reads.end(), {saved.k, saved.v});
  }
  const AttentionMemory needs = LocalAttention::memory_of(its.shape);
  s.o = tensor("o", part.tokens * shape_.q_width());
  s.sums = tensor("lse", needs.sums);
  const int scratch = tensor("attention_scratch",
                             needs.forward_scratch + (its.gathers() ? 2 * its.key_floats() : 0),
                             TensorRole::scratch);
  operands.writes = {s.o, s.sums, scratch};
  step(
      "attention", std::move(operands),
      [its = std::move(its), scratch, q = s.q, o = s.o, sums = s.sums](const Operands& t) {
        Pieces pieces(t.out(scratch));
        const std::int64_t gathered = its.gathers() ? its.key_floats() : 0;
        const auto k = its.gathered(t, its.k, pieces.take(gathered));
        const auto v = its.gathered(t, its.v, pieces.take(gathered));
        LocalAttention(its.now()).forward(t.in(q), k, v, {.o = t.out(o), .sums = t.out(sums)},
                                          pieces.rest());
      },
      attention_flop(kForwardPairFlop));
}

// Writes d_q. Writes or adds to d_k and d_v of this part and of earlier parts of the sequence.
void TrainingProgram::attention_gradients(Saved& s, int d_o, int d_q) {
  const Part& part = parts_[part_];
  PartAttention its = attention_of(shape_, part);
  StepOperands operands{.reads = {s.q, s.o, s.sums, d_o}, .writes = {d_q}, .updates = {}};
  std::vector<int> d_k, d_v;
  for (std::size_t p = part.first; p <= part_; ++p) {
    Saved& saved = parts_[p].saved[static_cast<std::size_t>(layer_)];
    if (part.last) {
      const std::string name = p == part_ ? "" : "_" + std::to_string(p);
      const std::int64_t floats = parts_[p].tokens * shape_.k_width();
      saved.d_k = tensor("d_k" + name, floats);
      saved.d_v = tensor("d_v" + name, floats);
    }
    its.k.push_back(saved.k);
    its.v.push_back(saved.v);
    d_k.push_back(saved.d_k);
    d_v.push_back(saved.d_v);
    operands.reads.insert(operands.reads.end(), {saved.k, saved.v});
    std::vector<int>& changed = part.last ? operands.writes : operands.updates;
    changed.insert(changed.end(), {saved.d_k, saved.d_v});
  }
  const bool alone = part.last && !its.gathers();
  const AttentionMemory needs = LocalAttention::memory_of(its.shape);
  const int scratch = tensor("d_attention_scratch",
                             needs.backward_scratch + (its.gathers() ? 2 : 0) * its.key_floats() +
                                 (alone ? 0 : 2) * its.key_floats(),
                             TensorRole::scratch);
  operands.writes.push_back(scratch);
  step(
      "d_attention", std::move(operands),
      [its = std::move(its), d_k = std::move(d_k), d_v = std::move(d_v), scratch, d_o, d_q, alone,
       assign = part.last, q = s.q, o = s.o, sums = s.sums](const Operands& t) {
        Pieces pieces(t.out(scratch));
        const std::int64_t gathered = its.gathers() ? its.key_floats() : 0;
        const auto k = its.gathered(t, its.k, pieces.take(gathered));
        const auto v = its.gathered(t, its.v, pieces.take(gathered));
        const std::int64_t apart = alone ? 0 : its.key_floats();
        std::span<float> all_d_k = pieces.take(apart), all_d_v = pieces.take(apart);
        if (alone) {
          all_d_k = t.out(d_k.front());
          all_d_v = t.out(d_v.front());
        }
        LocalAttention(its.now()).backward(
            {.q = t.in(q), .k = k, .v = v, .o = t.in(o), .lse = t.in(sums), .upstream = t.in(d_o)},
            t.out(d_q), all_d_k, all_d_v, pieces.rest());
        if (alone) return;
        const auto deal = [&](const std::vector<int>& parts, std::span<const float> from) {
          std::size_t at = 0;
          for (const int its_part : parts) {
            for (float& to : t.out(its_part)) {
              to = assign ? from[at] : to + from[at];
              ++at;
            }
          }
        };
        deal(d_k, all_d_k);
        deal(d_v, all_d_v);
      },
      attention_flop(kBackwardPairFlop));
}

void TrainingProgram::backward() {
  const auto per_token = static_cast<float>(1.0 / static_cast<double>(tokens_));
  for (part_ = parts_.size(); part_-- > 0;) {
    Part& part = parts_[part_];
    const std::string of_part = parts_.size() == 1 ? "" : std::to_string(part_) + '.';
    prefix_ = of_part;
    int dy = tensor("d_y", part.tokens * shape_.hidden);
    step("d_loss", {.reads = {part.y, part.target}, .writes = {dy}, .updates = {}},
         [=, y = part.y, target = part.target](const Operands& t) {
           const std::span<const float> have = t.in(y), want = t.in(target);
           const std::span<float> to = t.out(dy);
           for (std::size_t i = 0; i < to.size(); ++i) to[i] = (have[i] - want[i]) * per_token;
         });
    for (layer_ = layers_ - 1; layer_ >= 0; --layer_) {
      prefix_ = of_part + std::to_string(layer_) + '.';
      Saved& s = part.saved[static_cast<std::size_t>(layer_)];
      dy = backward_attention(s, backward_ffn(s, dy));
    }
    roles_[static_cast<std::size_t>(dy)] = TensorRole::input_gradient;
  }
}

std::pair<int, Update> TrainingProgram::gradient(int kind, StepOperands& operands) {
  int& dw = gradients_[static_cast<std::size_t>(layer_)][static_cast<std::size_t>(kind)];
  const bool first = dw < 0;
  if (first) {
    const std::string prefix = std::exchange(prefix_, std::to_string(layer_) + ".gradient.");
    const std::int64_t floats = tensors_[static_cast<std::size_t>(weight(kind))].floats;
    dw = tensor(std::string(kWeightNames[static_cast<std::size_t>(kind)]), floats,
                TensorRole::weight_gradient);
    prefix_ = prefix;
  }
  (first ? operands.writes : operands.updates).push_back(dw);
  return {dw, first ? Update::assign : Update::add};
}

// dx = or += dy W^T, and dw += x^T dy.
void TrainingProgram::linear_gradients(const char* name, const Linear& by, int x, int dy, int dx,
                                       Update update) {
  const std::int64_t n = parts_[part_].tokens;
  const int w = weight(by.weight);
  StepOperands input{.reads = {dy, w}, .writes = {}, .updates = {}};
  (update == Update::assign ? input.writes : input.updates).push_back(dx);
  step(
      std::string("d_") + name + "_input", std::move(input),
      [=](const Operands& t) {
        linear_backward_input(n, by.in, by.out, t.in(w), t.in(dy), t.out(dx), update);
      },
      product_flop(by));
  StepOperands of_weight{.reads = {x, dy}, .writes = {}, .updates = {}};
  const auto [dw, add] = gradient(by.weight, of_weight);
  step(
      std::string("d_") + name + "_weight", std::move(of_weight),
      [=, dw = dw, add = add](const Operands& t) {
        linear_backward_weight(n, by.in, by.out, t.in(x), t.in(dy), t.out(dw), add);
      },
      product_flop(by));
}

// dx = residual + the gradient through the norm; also computes dgain.
void TrainingProgram::norm_gradients(const char* name, Weight kind, int x, int inverse_rms, int dy,
                                     int residual, int dx) {
  const std::int64_t n = parts_[part_].tokens;
  const int width = shape_.hidden, gain = weight(kind);
  step(std::string("d_") + name + "_input",
       {.reads = {x, gain, inverse_rms, dy, residual}, .writes = {dx}, .updates = {}},
       [=](const Operands& t) {
         std::ranges::copy(t.in(residual), t.out(dx).begin());
         rms_norm_backward_input(n, width, t.in(x), t.in(gain), t.in(inverse_rms), t.in(dy),
                                 t.out(dx));
       });
  StepOperands of_gain{.reads = {x, inverse_rms, dy}, .writes = {}, .updates = {}};
  const auto [dgain, add] = gradient(kind, of_gain);
  step(std::string("d_") + name + "_weight", std::move(of_gain),
       [=, dgain = dgain, add = add](const Operands& t) {
         if (add == Update::assign) std::ranges::fill(t.out(dgain), 0.0F);
         rms_norm_backward_gain(n, width, t.in(x), t.in(inverse_rms), t.in(dy), t.out(dgain));
       });
}

// Computes the gradient of a from the gradient of y.
int TrainingProgram::backward_ffn(const Saved& s, int dy) {
  const std::int64_t n = parts_[part_].tokens, hidden = shape_.hidden, ffn = shape_.ffn;
  const int d_product = tensor("d_product", n * ffn);
  linear_gradients("down", {kDown, ffn, hidden}, s.product, dy, d_product, Update::assign);
  const int d_gate = tensor("d_gate", n * ffn), d_up = tensor("d_up", n * ffn);
  step("d_swiglu", {.reads = {s.gate, s.up, d_product}, .writes = {d_gate, d_up}, .updates = {}},
       [=, gate = s.gate, up = s.up](const Operands& t) {
         swiglu_backward(t.in(gate), t.in(up), t.in(d_product), t.out(d_gate), t.out(d_up));
       });
  const int d_a_norm = tensor("d_a_norm", n * hidden);
  linear_gradients("gate", {kGate, hidden, ffn}, s.a_norm, d_gate, d_a_norm, Update::assign);
  linear_gradients("up", {kUp, hidden, ffn}, s.a_norm, d_up, d_a_norm, Update::add);
  const int d_a = tensor("d_a", n * hidden);
  norm_gradients("ffn_norm", kFfnNorm, s.a, s.a_inverse_rms, d_a_norm, dy, d_a);
  return d_a;
}

// Computes the gradient of x from the gradient of a.
int TrainingProgram::backward_attention(Saved& s, int d_a) {
  const std::int64_t n = parts_[part_].tokens, hidden = shape_.hidden;
  const std::int64_t q_width = shape_.q_width(), k_width = shape_.k_width();
  const int d_o = tensor("d_o", n * q_width);
  linear_gradients("attention_output", {kOutput, q_width, hidden}, s.o, d_a, d_o, Update::assign);
  const int d_q = tensor("d_q", n * q_width);
  attention_gradients(s, d_o, d_q);
  turn("d_rotate_query", shape_.heads, d_q, Turn::backward);
  turn("d_rotate_key", shape_.kv_heads, s.d_k, Turn::backward);
  const int d_x_norm = tensor("d_x_norm", n * hidden);
  linear_gradients("query", {kQuery, hidden, q_width}, s.x_norm, d_q, d_x_norm, Update::assign);
  linear_gradients("key", {kKey, hidden, k_width}, s.x_norm, s.d_k, d_x_norm, Update::add);
  linear_gradients("value", {kValue, hidden, k_width}, s.x_norm, s.d_v, d_x_norm, Update::add);
  const int d_x = tensor("d_x", n * hidden);
  norm_gradients("attention_norm", kAttentionNorm, s.x, s.x_inverse_rms, d_x_norm, d_a, d_x);
  return d_x;
}

}  // namespace stowage::kernels
