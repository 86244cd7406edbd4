#include "kernels/block/block_weights.h"

namespace stowage::kernels {

std::vector<std::string> check(const BlockShape& shape) {
  std::vector<std::string> problems;
  const auto positive = [&](int value, const char* name) {
    // With this upper limit every product of two sizes is far below 2^63.
    if (value < 1 || value > 1 << 16) {
      problems.push_back(std::string("block: ") + name + " must be from 1 to 65536, is " +
                         std::to_string(value));
    }
  };
  positive(shape.hidden, "hidden");
  positive(shape.heads, "heads");
  positive(shape.kv_heads, "kv_heads");
  positive(shape.head_dim, "head_dim");
  positive(shape.ffn, "ffn");
  if (shape.kv_heads > 0 && shape.heads % shape.kv_heads != 0) {
    problems.push_back("block: heads must be a multiple of kv_heads, are " +
                       std::to_string(shape.heads) + " and " + std::to_string(shape.kv_heads));
  }
  if (shape.head_dim % 2 != 0) {
    problems.push_back("block: head_dim must be even for rotary embedding, is " +
                       std::to_string(shape.head_dim));
  }
  if (!(shape.rope_theta > 0)) problems.push_back("block: rope_theta must be positive");
  if (!(shape.norm_epsilon > 0)) problems.push_back("block: norm_epsilon must be positive");
  return problems;
}

std::array<std::int64_t, kWeightTensors> weight_sizes(const BlockShape& shape) {
  const std::int64_t h = shape.hidden;
  return {h, h * shape.q_width(), h * shape.k_width(), h * shape.k_width(), h * shape.q_width(),
          h, h * shape.ffn,       h * shape.ffn,       h * shape.ffn};
}

double block_flop(const BlockShape& shape, double length) {
  double matrices = 0;
  for (const std::int64_t size : weight_sizes(shape)) {
    if (size != shape.hidden) matrices += static_cast<double>(size);
  }
  const double pairs = length * (length + 1) / 2;
  return 6 * matrices * length + 14 * static_cast<double>(shape.q_width()) * pairs;
}

}  // namespace stowage::kernels
