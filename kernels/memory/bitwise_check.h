// Compares the results of two runs, which must not differ in any bit.
//
//   BitwiseCheck check;
//   check.compare(separate, planned);   // equally long
//   if (!check.passed()) complain(check.differing);
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stowage::kernels {

// Number of floats of one kind of result that were compared, and number of floats that differ in
// any bit.
struct BitwiseCheck {
  std::int64_t compared = 0;
  std::int64_t differing = 0;

  void compare(std::span<const float> a, std::span<const float> b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      differing += std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]) ? 1 : 0;
    }
    compared += static_cast<std::int64_t>(a.size());
  }
  bool passed() const { return compared > 0 && differing == 0; }
};

}  // namespace stowage::kernels
