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
  if (shape.value_dim < 0 || shape.value_dim > 1 << 16) {
    problems.push_back("block: value_dim must be from 0 to 65536, is " +
                       std::to_string(shape.value_dim));
  }
  if (shape.window < 0) {
    problems.push_back("block: window must be at least 0, is " + std::to_string(shape.window));
  }
  if (!(shape.rope_theta > 0)) problems.push_back("block: rope_theta must be positive");
  if (!(shape.norm_epsilon > 0)) problems.push_back("block: norm_epsilon must be positive");
  return problems;
}

std::array<std::int64_t, kWeightTensors> weight_sizes(const BlockShape& shape) {
  const std::int64_t h = shape.hidden;
  return {h, h * shape.q_width(), h * shape.k_width(), h * shape.v_width(), h * shape.o_width(),
          h, h * shape.ffn,       h * shape.ffn,       h * shape.ffn};
}

double block_flop(const BlockShape& shape, double length) {
  double matrices = 0;
  for (const std::int64_t size : weight_sizes(shape)) {
    if (size != shape.hidden) matrices += static_cast<double>(size);
  }
  double pairs = length * (length + 1) / 2;
  if (const auto window = static_cast<double>(shape.window); window > 0 && window < length) {
    pairs -= (length - window) * (length - window + 1) / 2;
  }
  const auto of_pair = static_cast<double>(8 * shape.q_width() + 6 * shape.o_width());
  return 6 * matrices * length + of_pair * pairs;
}

}  // namespace stowage::kernels
