// Units and the integer arithmetic that decides.
//
// Integers decide whether a plan is valid: tokens, ranks and counts are 64-bit integers with
// checked sums and products. Milliseconds and MiB are doubles. A unit is part of a name: `_ms`,
// `_mib`, `_tokens`, `_bytes`.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <cstdint>
#include <optional>

namespace stowage {

using Tokens = std::int64_t;  // a length or a sum of lengths
using Ms = double;            // modelled time, milliseconds
using Mib = double;           // memory, MiB (2^20 bytes)
using Bytes = std::int64_t;   // a size, an address or a distance of addresses

// The largest integer that JSON, JavaScript and a double carry without rounding. Every integer of
// an instance or a plan lies in [-kMaxExact, kMaxExact].
inline constexpr std::int64_t kMaxExact = std::int64_t{1} << 53;

// Returns `value` rounded up to a multiple of `multiple`. Requires 0 <= value <= kMaxExact and 1 <=
// multiple <= kMaxExact.
inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Returns a + b, or nullopt if the sum leaves the 64-bit range.
inline std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

// Returns a * b, or nullopt if the product leaves the 64-bit range.
inline std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

}  // namespace stowage
