// Random draws that are the same on every machine: the standard fixes std::mt19937_64 but neither
// its distributions nor std::shuffle.
#pragma once

#include <cstdint>
#include <random>

namespace stowage {

// Returns a uniform number in [0, bound), without bias. Requires bound >= 1.
inline std::uint64_t draw(std::mt19937_64& random, std::uint64_t bound) {
  // Values at or above the largest multiple of `bound` would favour small remainders.
  const std::uint64_t excess = (UINT64_MAX % bound + 1) % bound;
  std::uint64_t value = random();
  while (value > UINT64_MAX - excess) value = random();
  return value % bound;
}

// Returns a uniform number in [0, 1) with 53 random bits.
inline double draw_unit(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1.0p-53;
}

// A generator for inner loops (SplitMix64: Steele, Lea and Flood 2014). It is faster than
// mt19937_64, and its bounded draws are biased by at most bound / 2^32.
class QuickRandom {
 public:
  explicit QuickRandom(std::uint64_t seed) : state_(seed) {}

  // Returns a number in [0, bound). Requires bound >= 1.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((next() >> 32) * bound >> 32);
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace stowage
