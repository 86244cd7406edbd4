// Lengths of the restarts of a random search, in units of the shortest restart. Source: Luby,
// Sinclair and Zuckerman (1993).
#pragma once

#include <bit>
#include <cstdint>

namespace stowage {

// Returns term i >= 1 of the sequence 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...
inline std::int64_t luby(std::int64_t i) {
  for (;;) {
    const auto whole = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(i) + 1));
    if (i + 1 == whole) return whole / 2;
    i -= whole - 1;
  }
}

}  // namespace stowage
