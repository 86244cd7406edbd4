#include "kernels/block/program/training_program.h"

#include <algorithm>
#include <cstddef>

#include "kernels/block/operation/linear.h"
#include "kernels/block/operation/rms_norm.h"
#include "kernels/block/operation/swiglu.h"
#include "kernels/block/synthetic.h"
#include "kernels/exchange/exchange.h"

namespace stowage::kernels {
TrainingProgram::TrainingProgram(const TrainingShape& shape)
    : shape_(shape.block), layers_(shape.layers), tokens_(shape.cu_seqlens.back()) {
  const auto sizes = weight_sizes(shape_);
  for (int layer = 0; layer < layers_; ++layer) {
    std::vector<int>& its = weights_.emplace_back();
    for (std::size_t kind = 0; kind < sizes.size(); ++kind) {
      its.push_back(tensor(std::to_string(layer) + ".weight." + std::string(kWeightNames[kind]),
                           sizes[kind], TensorRole::weight));
    }
    gradients_.emplace_back(sizes.size(), -1);
  }
  cut(shape);
  forward();
  forward_steps_ = steps();
  loss();
  backward();
  updates();
  settle_lifetimes();
}

bool TrainingProgram::is_input(int tensor) const {
  return role(tensor) == TensorRole::weight || role(tensor) == TensorRole::input;
}

int TrainingProgram::tensor(const std::string& name, std::int64_t floats, TensorRole role) {
  tensors_.push_back({.name = prefix_ + name, .floats = floats, .first = -1, .last = -1});
  roles_.push_back(role);
  return static_cast<int>(tensors_.size()) - 1;
}

void TrainingProgram::step(const std::string& name, StepOperands operands, Compute compute,
                           double flop) {
  steps_.push_back({.name = prefix_ + name,
                    .operands = std::move(operands),
                    .compute = std::move(compute),
                    .flop = flop});
}

double TrainingProgram::product_flop(const Linear& by) const {
  return 2.0 * static_cast<double>(parts_[part_].tokens) * static_cast<double>(by.in) *
         static_cast<double>(by.out);
}

// Counts pairs of a query and a visible key in one head.
double TrainingProgram::attention_flop(double of_pair) const {
  double pairs = 0;
  for (const Piece& piece : parts_[part_].pieces) {
    const auto begin = static_cast<double>(piece.begin), end = static_cast<double>(piece.end);
    pairs += (end * (end + 1) - begin * (begin + 1)) / 2;
  }
  return of_pair * pairs * shape_.heads * shape_.head_dim;
}

void TrainingProgram::cut(const TrainingShape& shape) {
  const std::vector<std::int32_t>& cu = shape.cu_seqlens;
  if (shape.chunk_tokens == 0) {
    Part all;
    for (std::size_t s = 0; s + 1 < cu.size(); ++s) {
      all.pieces.push_back({static_cast<std::int64_t>(s), 0, cu[s + 1] - cu[s]});
    }
    add_part(std::move(all));
    return;
  }
  Exchange exchange;
  exchange.kind = ExchangeKind::chunked;
  exchange.chunk_size = shape.chunk_tokens;
  for (const Chunk& chunk : batch_chunks(exchange, cu)) {
    Part part;
    part.last = chunk.index + 1 == chunk.count;
    part.first = parts_.size() - chunk.index;
    for (const ChunkPiece& piece : chunk.pieces) {
      part.pieces.push_back({piece.sequence, piece.begin, piece.end});
    }
    part.before = part.pieces.front().begin;
    add_part(std::move(part));
  }
}

void TrainingProgram::add_part(Part part) {
  std::vector<std::int32_t> positions;
  part.cu_q = {0};
  for (const Piece& piece : part.pieces) {
    for (std::int64_t at = piece.begin; at < piece.end; ++at) {
      positions.push_back(static_cast<std::int32_t>(at));
    }
    part.cu_q.push_back(static_cast<std::int32_t>(positions.size()));
  }
  part.tokens = std::ssize(positions);
  part.cu_k = part.cu_q;
  // a cut sequence is the only sequence of its part
  part.cu_k.back() += static_cast<std::int32_t>(part.before);
  part.rotary = std::make_shared<RotaryTable>(positions, shape_.head_dim, shape_.rope_theta);
  part.saved.resize(static_cast<std::size_t>(layers_));
  parts_.push_back(std::move(part));
}

void TrainingProgram::fill_input(int tensor, std::uint64_t seed, std::span<float> to) const {
  for (std::size_t layer = 0; layer < weights_.size(); ++layer) {
    const auto found = std::ranges::find(weights_[layer], tensor);
    if (found == weights_[layer].end()) continue;
    const BlockWeights<float> all = synthetic_weights(shape_, seed + layer);
    std::ranges::copy(*all.tensors()[static_cast<std::size_t>(found - weights_[layer].begin())],
                      to.begin());
    return;
  }
  for (const Part& part : parts_) {
    if (tensor != part.x && tensor != part.target) continue;
    const Stream stream = tensor == part.x ? Stream::input : Stream::upstream;
    std::size_t row = 0;
    for (const Piece& piece : part.pieces) {
      const auto floats = static_cast<std::size_t>((piece.end - piece.begin) * shape_.hidden);
      fill_tokens({.seed = seed, .stream = stream}, piece.sequence, piece.begin, shape_.hidden,
                  to.subspan(row, floats));
      row += floats;
    }
  }
}

void TrainingProgram::forward() {
  const auto prefix = [this](int layer) {
    const std::string part = parts_.size() == 1 ? "" : std::to_string(part_) + '.';
    return layer < 0 ? part : part + std::to_string(layer) + '.';
  };
  for (part_ = 0; part_ < parts_.size(); ++part_) {
    Part& part = parts_[part_];
    prefix_ = prefix(-1);
    int x = part.x = tensor("x", part.tokens * shape_.hidden, TensorRole::input);
    part.target = tensor("target", part.tokens * shape_.hidden, TensorRole::input);
    for (layer_ = 0; layer_ < layers_; ++layer_) {
      prefix_ = prefix(layer_);
      Saved& s = part.saved[static_cast<std::size_t>(layer_)];
      s.x = x;
      x = forward_layer(s);
    }
    part.y = x;
    roles_[static_cast<std::size_t>(x)] = TensorRole::output;
  }
}

void TrainingProgram::norm(const char* name, Weight kind, int x, int y, int inverse_rms) {
  const int gain = weight(kind);
  step(name, {.reads = {x, gain}, .writes = {y, inverse_rms}, .updates = {}},
       [=, n = parts_[part_].tokens, width = shape_.hidden,
        epsilon = shape_.norm_epsilon](const Operands& t) {
         rms_norm_forward(n, width, epsilon, t.in(x), t.in(gain), t.out(y), t.out(inverse_rms));
       });
}

void TrainingProgram::linear(const char* name, const Linear& by, int x, int y) {
  const int w = weight(by.weight);
  step(
      name, {.reads = {x, w}, .writes = {y}, .updates = {}},
      [=, n = parts_[part_].tokens](const Operands& t) {
        linear_forward(n, by.in, by.out, t.in(x), t.in(w), t.out(y), Update::assign);
      },
      product_flop(by));
}

// y = residual + x W
void TrainingProgram::linear_onto(const char* name, const Linear& by, int residual, int x, int y) {
  const int w = weight(by.weight);
  step(
      name, {.reads = {residual, x, w}, .writes = {y}, .updates = {}},
      [=, n = parts_[part_].tokens](const Operands& t) {
        std::ranges::copy(t.in(residual), t.out(y).begin());
        linear_forward(n, by.in, by.out, t.in(x), t.in(w), t.out(y), Update::add);
      },
      product_flop(by));
}

void TrainingProgram::turn(const char* name, int heads, int tensor, Turn way) {
  step(name, {.reads = {}, .writes = {}, .updates = {tensor}},
       [=, rotary = parts_[part_].rotary](const Operands& t) {
         rotate(*rotary, heads, t.out(tensor), way);
       });
}

// Records the forward pass of a layer and returns its y.
int TrainingProgram::forward_layer(Saved& s) {
  const std::int64_t n = parts_[part_].tokens, hidden = shape_.hidden, ffn = shape_.ffn;
  const std::int64_t q_width = shape_.q_width(), k_width = shape_.k_width();
  s.x_norm = tensor("x_norm", n * hidden);
  s.x_inverse_rms = tensor("x_inverse_rms", n);
  norm("attention_norm", kAttentionNorm, s.x, s.x_norm, s.x_inverse_rms);
  s.q = tensor("q", n * q_width);
  s.k = tensor("k", n * k_width);
  s.v = tensor("v", n * k_width);
  linear("query", {kQuery, hidden, q_width}, s.x_norm, s.q);
  linear("key", {kKey, hidden, k_width}, s.x_norm, s.k);
  linear("value", {kValue, hidden, k_width}, s.x_norm, s.v);
  turn("rotate_query", shape_.heads, s.q, Turn::forward);
  turn("rotate_key", shape_.kv_heads, s.k, Turn::forward);
  attention(s);
  s.a = tensor("a", n * hidden);
  linear_onto("attention_output", {kOutput, q_width, hidden}, s.x, s.o, s.a);
  s.a_norm = tensor("a_norm", n * hidden);
  s.a_inverse_rms = tensor("a_inverse_rms", n);
  norm("ffn_norm", kFfnNorm, s.a, s.a_norm, s.a_inverse_rms);
  s.gate = tensor("gate", n * ffn);
  s.up = tensor("up", n * ffn);
  linear("gate", {kGate, hidden, ffn}, s.a_norm, s.gate);
  linear("up", {kUp, hidden, ffn}, s.a_norm, s.up);
  s.product = tensor("product", n * ffn);
  step("swiglu", {.reads = {s.gate, s.up}, .writes = {s.product}, .updates = {}},
       [gate = s.gate, up = s.up, product = s.product](const Operands& t) {
         swiglu_forward(t.in(gate), t.in(up), t.out(product));
       });
  const int y = tensor("y", n * hidden);
  linear_onto("down", {kDown, ffn, hidden}, s.a, s.product, y);
  return y;
}

void TrainingProgram::loss() {
  const auto per_token = 1.0 / static_cast<double>(tokens_);
  prefix_.clear();
  const int loss = tensor("loss", 1, TensorRole::loss);
  for (part_ = 0; part_ < parts_.size(); ++part_) {
    Part& part = parts_[part_];
    prefix_ = parts_.size() == 1 ? "" : std::to_string(part_) + '.';
    StepOperands operands{.reads = {part.y, part.target}, .writes = {}, .updates = {}};
    const bool first = part_ == 0;
    (first ? operands.writes : operands.updates).push_back(loss);
    step("loss", std::move(operands), [=, y = part.y, target = part.target](const Operands& t) {
      double sum = 0;
      const std::span<const float> have = t.in(y), want = t.in(target);
      for (std::size_t i = 0; i < have.size(); ++i) {
        const double off = double{have[i]} - double{want[i]};
        sum += off * off;
      }
      float& total = t.out(loss)[0];
      const auto own = static_cast<float>(sum / 2 * per_token);
      total = first ? own : total + own;
    });
  }
}

void TrainingProgram::updates() {
  for (layer_ = 0; layer_ < layers_; ++layer_) {
    prefix_ = std::to_string(layer_) + '.';
    for (int kind = 0; kind < kWeightTensors; ++kind) {
      const int w = weight(kind);
      const int dw = gradients_[static_cast<std::size_t>(layer_)][static_cast<std::size_t>(kind)];
      const std::string name =
          "update." + std::string(kWeightNames[static_cast<std::size_t>(kind)]);
      step(name, {.reads = {dw}, .writes = {}, .updates = {w}}, [=](const Operands& t) {
        const std::span<const float> by = t.in(dw);
        const std::span<float> to = t.out(w);
        for (std::size_t i = 0; i < to.size(); ++i) to[i] -= kRate * by[i];
      });
    }
  }
}

void TrainingProgram::settle_lifetimes() {
  for (int now = 0; now < steps(); ++now) {
    const StepOperands& its = operands(now);
    for (const auto* list : {&its.reads, &its.writes, &its.updates}) {
      for (const int t : *list) {
        Tensor& tensor = tensors_[static_cast<std::size_t>(t)];
        if (tensor.first < 0) tensor.first = now;
        tensor.last = now;
      }
    }
  }
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    if (is_input(static_cast<int>(t))) tensors_[t].first = 0;
  }
}

}  // namespace stowage::kernels
