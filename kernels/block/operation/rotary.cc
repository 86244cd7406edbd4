#include "kernels/block/operation/rotary.h"

#include <cmath>

#include "kernels/threads/workers.h"

namespace stowage::kernels {

std::vector<std::int32_t> sequence_positions(std::span<const std::int32_t> cu_seqlens,
                                             std::int64_t total) {
  std::vector<std::int32_t> positions(static_cast<std::size_t>(total), 0);
  for (std::size_t b = 0; b + 1 < cu_seqlens.size(); ++b) {
    for (std::int32_t row = cu_seqlens[b]; row < cu_seqlens[b + 1]; ++row) {
      positions[row] = row - cu_seqlens[b];
    }
  }
  return positions;
}

RotaryTable::RotaryTable(std::span<const std::int32_t> positions, int head_dim, double theta)
    : tokens_(static_cast<std::int64_t>(positions.size())), head_dim_(head_dim) {
  const int half = head_dim / 2;
  cos_.resize(positions.size() * half);
  sin_.resize(positions.size() * half);
  std::vector<double> frequency(half);
  for (int i = 0; i < half; ++i) frequency[i] = std::pow(theta, -2.0 * i / head_dim);
  for (std::size_t t = 0; t < positions.size(); ++t) {
    for (int i = 0; i < half; ++i) {
      const double angle = positions[t] * frequency[i];
      cos_[t * half + i] = static_cast<float>(std::cos(angle));
      sin_[t * half + i] = static_cast<float>(std::sin(angle));
    }
  }
}

void rotate(const RotaryTable& table, int heads, std::span<float> x, Turn turn) {
  const int half = table.head_dim() / 2;
  const float sign = turn == Turn::forward ? 1.0f : -1.0f;
  const auto rotate_tokens = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      const float* cosine = table.cosines(t);
      const float* sine = table.sines(t);
      for (int h = 0; h < heads; ++h) {
        float* low = x.data() + (t * heads + h) * table.head_dim();
        float* high = low + half;
        for (int i = 0; i < half; ++i) {
          const float a = low[i], b = high[i], s = sign * sine[i];
          low[i] = a * cosine[i] - b * s;
          high[i] = b * cosine[i] + a * s;
        }
      }
    }
  };
  share_rows(table.tokens(), std::int64_t{heads} * table.head_dim(), 1, rotate_tokens);
}

}  // namespace stowage::kernels
