#include "kernels/block/synthetic.h"

#include <cmath>

namespace stowage::kernels {
namespace {

// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): every input bit reaches every
// output bit.
std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t row_key(const Source& source, std::int64_t sequence, std::int64_t position) {
  const std::uint64_t a = mix(source.seed ^ (static_cast<std::uint64_t>(source.stream) << 56));
  const std::uint64_t b = mix(a ^ static_cast<std::uint64_t>(sequence));
  return mix(b ^ static_cast<std::uint64_t>(position));
}

float value(std::uint64_t key, std::int64_t channel) {
  const std::uint64_t z = mix(key ^ static_cast<std::uint64_t>(channel));
  const auto total =
      static_cast<std::int64_t>((z & 0xffff) + (z >> 16 & 0xffff) + (z >> 32 & 0xffff) + (z >> 48));
  constexpr double kMean = 2.0 * 65535;
  constexpr double kDeviation = 37837.0;  // sqrt(4 (2^32 - 1) / 12), to five digits
  return static_cast<float>((static_cast<double>(total) - kMean) / kDeviation);
}

}  // namespace

void fill_tokens(const Source& source, std::int64_t sequence, std::int64_t first_position,
                 std::int64_t width, std::span<float> rows) {
  const std::int64_t count = static_cast<std::int64_t>(rows.size()) / width;
  for (std::int64_t t = 0; t < count; ++t) {
    const std::uint64_t key = row_key(source, sequence, first_position + t);
    for (std::int64_t c = 0; c < width; ++c) rows[t * width + c] = value(key, c);
  }
}

BlockWeights<float> synthetic_weights(const BlockShape& shape, std::uint64_t seed) {
  BlockWeights<float> weights = zero_weights<float>(shape);
  const auto tensors = weights.tensors();
  for (int t = 0; t < kWeightTensors; ++t) {
    std::vector<float>& tensor = *tensors[t];
    fill_tokens({.seed = seed, .stream = Stream::weights}, t, 0,
                static_cast<std::int64_t>(tensor.size()), tensor);
    const bool gain = tensors[t] == &weights.attention_norm || tensors[t] == &weights.ffn_norm;
    const double inputs = tensors[t] == &weights.down     ? shape.ffn
                          : tensors[t] == &weights.output ? static_cast<double>(shape.o_width())
                                                          : shape.hidden;
    const auto deviation = static_cast<float>(1 / std::sqrt(inputs));
    for (float& w : tensor) w = gain ? 1 + 0.1f * w : w * deviation;
  }
  return weights;
}

}  // namespace stowage::kernels
