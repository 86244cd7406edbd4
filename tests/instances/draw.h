// Random draws for tests, the same on every platform.
//
//   Draw draw(seed);
//   const std::int64_t size = draw.whole(1, 10);
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace stowage {

// Draws are the same on every platform, unlike those of std distributions. The bias of the
// remainder is negligible here.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  // A whole number in [low, high].
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::size_t below(std::size_t count) { return engine_() % count; }
  bool coin() { return (engine_() & 1U) != 0; }
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11U) * 0x1p-53;
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace stowage
