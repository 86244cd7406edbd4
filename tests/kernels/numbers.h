// Data shared by the kernel tests: reproducible arrays, packed batches, conversions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/block/synthetic.h"

namespace stowage::kernels {

// Sanitizers cost a factor of ten or more: the long cases shrink under them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

// `count` nearly normal values of standard deviation `size`; equal tags give equal arrays.
inline std::vector<float> normal_values(std::int64_t count, std::int64_t tag, float size = 1) {
  std::vector<float> values(static_cast<std::size_t>(count));
  fill_tokens({.seed = 7}, tag, 0, count > 0 ? count : 1, values);
  for (float& value : values) value *= size;
  return values;
}

inline std::vector<double> widen(std::span<const float> values) {
  return {values.begin(), values.end()};
}

inline std::vector<std::int32_t> prefix_sums(const std::vector<int>& lengths) {
  std::vector<std::int32_t> cu = {0};
  for (const int length : lengths) cu.push_back(cu.back() + length);
  return cu;
}

}  // namespace stowage::kernels
