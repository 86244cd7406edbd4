// The items of bins while a partition is being made.
#pragma once

#include <cstdint>
#include <vector>

namespace stowage {

// The items of each bin, ascending indices into costs that fall.
using ItemBins = std::vector<std::vector<std::int32_t>>;

}  // namespace stowage
