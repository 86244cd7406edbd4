// The items of bins of a partition under construction.
#pragma once

#include <cstdint>
#include <vector>

namespace stowage {

// The items of each bin: ascending indices into descending costs.
using ItemBins = std::vector<std::vector<std::int32_t>>;

}  // namespace stowage
