// Random draws that are the same on every machine: the standard fixes std::mt19937_64 but neither
// its distributions nor std::shuffle.
#pragma once

#include <cstdint>
#include <random>

namespace stowage {

// Uniform in [0, bound), without bias. Requires bound >= 1.
inline std::uint64_t draw(std::mt19937_64& random, std::uint64_t bound) {
  // Values at or above the largest multiple of `bound` would favour small remainders.
  const std::uint64_t excess = (UINT64_MAX % bound + 1) % bound;
  std::uint64_t value = random();
  while (value > UINT64_MAX - excess) value = random();
  return value % bound;
}

// Uniform in [0, 1), 53 random bits.
inline double draw_unit(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1.0p-53;
}

}  // namespace stowage
