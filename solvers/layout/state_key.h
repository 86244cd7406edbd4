// Stands for the unplaced buffers of a state of the layout search, and their lowest offsets.
#pragma once

#include <cstdint>

namespace stowage {

struct StateKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  bool operator==(const StateKey&) const = default;
};

}  // namespace stowage
