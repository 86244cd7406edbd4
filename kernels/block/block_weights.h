// Shape and weights of one Llama-style transformer block.
//
//   a = x + attention(rope(rms_norm(x) Wq), rope(rms_norm(x) Wk), rms_norm(x) Wv) Wo
//   y = a + (silu(rms_norm(a) Wgate) * (rms_norm(a) Wup)) Wdown
//
// A weight matrix is (in, out), row-major, applied from the right: y = x W. The same struct holds
// the gradients.
//
//   BlockShape shape{.hidden = 64, .heads = 8, .kv_heads = 2, .head_dim = 16, .ffn = 128};
//   BlockWeights<float> gradient = zero_weights<float>(shape);
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stowage::kernels {

struct BlockShape {
  int hidden = 64;
  int heads = 8;
  int kv_heads = 2;
  // Channels of queries and keys; even, because rotary embedding rotates pairs of channels. heads *
  // head_dim need not be hidden (Qwen3 has 2048 and 1024).
  int head_dim = 16;
  int ffn = 128;
  double rope_theta = 10000;
  double norm_epsilon = 1e-5;
  int value_dim = 0;        // channels of values and of a head's output; 0 means head_dim
  std::int64_t window = 0;  // keys that a query sees, at most; 0 means all before it

  int value_width() const { return value_dim > 0 ? value_dim : head_dim; }
  std::int64_t q_width() const { return std::int64_t{heads} * head_dim; }
  std::int64_t k_width() const { return std::int64_t{kv_heads} * head_dim; }
  std::int64_t v_width() const { return std::int64_t{kv_heads} * value_width(); }
  std::int64_t o_width() const { return std::int64_t{heads} * value_width(); }
};

// Returns the errors of a shape, one sentence each; empty for a valid shape.
std::vector<std::string> check(const BlockShape& shape);

inline constexpr int kWeightTensors = 9;
inline constexpr std::array<std::string_view, kWeightTensors> kWeightNames = {
    "attention_norm", "query", "key", "value", "output", "ffn_norm", "gate", "up", "down"};

template <class T>
struct BlockWeights {
  std::vector<T> attention_norm;  // (hidden)
  // (hidden, heads head_dim), (hidden, kv_heads head_dim), (hidden, kv_heads value_dim)
  std::vector<T> query, key, value;
  std::vector<T> output;    // (heads value_dim, hidden)
  std::vector<T> ffn_norm;  // (hidden)
  std::vector<T> gate, up;  // (hidden, ffn)
  std::vector<T> down;      // (ffn, hidden)

  // Returns the nine tensors in the order of kWeightNames.
  std::array<std::vector<T>*, kWeightTensors> tensors() {
    return {&attention_norm, &query, &key, &value, &output, &ffn_norm, &gate, &up, &down};
  }
  std::array<const std::vector<T>*, kWeightTensors> tensors() const {
    return {&attention_norm, &query, &key, &value, &output, &ffn_norm, &gate, &up, &down};
  }
};

// Returns the number of elements of each tensor, in the order of kWeightNames.
std::array<std::int64_t, kWeightTensors> weight_sizes(const BlockShape& shape);

template <class T>
BlockWeights<T> zero_weights(const BlockShape& shape) {
  BlockWeights<T> weights;
  const auto sizes = weight_sizes(shape);
  const auto tensors = weights.tensors();
  for (int t = 0; t < kWeightTensors; ++t) {
    tensors[t]->assign(static_cast<std::size_t>(sizes[t]), T{0});
  }
  return weights;
}

// Returns the useful floating-point operations of one forward and backward pass over one sequence
// of `length` tokens: 6 per matrix weight and token, and heads (8 head_dim + 6 value_dim) per
// visible (query, key) pair.
double block_flop(const BlockShape& shape, double length);

}  // namespace stowage::kernels
