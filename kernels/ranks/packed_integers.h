// Packs 64-bit integers into the floats of a collective: each integer becomes two floats with the
// same bits.
//
//   world.broadcast(floats = as_floats(integers));
//   integers = as_integers(floats);
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace stowage::kernels {

inline constexpr std::int64_t kFloatsPerInteger = 2;
static_assert(sizeof(std::int64_t) == kFloatsPerInteger * sizeof(float));

inline std::vector<float> as_floats(std::span<const std::int64_t> integers) {
  std::vector<float> floats(integers.size() * kFloatsPerInteger);
  if (!integers.empty()) std::memcpy(floats.data(), integers.data(), integers.size_bytes());
  return floats;
}

inline std::vector<std::int64_t> as_integers(std::span<const float> floats) {
  std::vector<std::int64_t> integers(floats.size() / kFloatsPerInteger);
  if (!integers.empty()) std::memcpy(integers.data(), floats.data(), floats.size_bytes());
  return integers;
}

}  // namespace stowage::kernels
