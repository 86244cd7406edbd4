// Rotary position embedding (Su et al., arXiv 2104.09864, section 3.4.2), in Llama's pairing:
// channel i of a head turns together with channel i + head_dim/2, by position * theta^(-2i/dim).
//
//   const RotaryTable table(positions, 16, 10000);  // once per packed batch
//   rotate(table, heads, q, Turn::forward);
//   rotate(table, heads, dq, Turn::backward);       // the transpose, hence the gradient
//
// The position is the token's index in its own sequence, not in the packed batch, because packing
// must not change a sequence's result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stowage::kernels {

// Returns the position of each of `total` rows in its sequence, computed from cu_seqlens; slack
// rows have position 0.
std::vector<std::int32_t> sequence_positions(std::span<const std::int32_t> cu_seqlens,
                                             std::int64_t total);

// Cosines and sines of every token, shared by all heads. Angles are computed in double: FP32 would
// leave two correct digits at position 100,000.
class RotaryTable {
 public:
  RotaryTable(std::span<const std::int32_t> positions, int head_dim, double theta);

  std::int64_t tokens() const { return tokens_; }
  int head_dim() const { return head_dim_; }
  const float* cosines(std::int64_t token) const { return &cos_[token * (head_dim_ / 2)]; }
  const float* sines(std::int64_t token) const { return &sin_[token * (head_dim_ / 2)]; }

 private:
  std::int64_t tokens_;
  int head_dim_;
  std::vector<float> cos_, sin_;  // (tokens, head_dim / 2)
};

enum class Turn { forward, backward };

// Rotates x (tokens, heads, head_dim) in place.
void rotate(const RotaryTable& table, int heads, std::span<float> x, Turn turn);

}  // namespace stowage::kernels
