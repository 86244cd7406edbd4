// Hash key of the unplaced buffers of a search state and of their lowest offsets.
#pragma once

#include <cstdint>

namespace stowage {

struct StateKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  bool operator==(const StateKey&) const = default;
};

}  // namespace stowage
