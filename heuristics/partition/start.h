// Bins to begin with, before anything is exchanged between them.
//
//   ItemBins bins = longest_first(costs, 8);
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "heuristics/partition/item_bins.h"

namespace stowage {

// Each item to the cheapest bin, ties to the one of fewest items: no bin stays empty. Requires
// falling costs, at least as many as bins. O(n log bins).
ItemBins longest_first(std::span<const std::int64_t> costs, std::int64_t bins);

// A dearest item that is above the average of the bins with the cheapest of company gets just that.
// The rest by largest differencing of whole rounds, an item a bin and round (differencing.h). The
// last round may not reach all bins, so that counts differ by at most one. Nothing if there is no
// such item. Requires as longest_first() and ids as differenced(). O(n log n).
std::optional<ItemBins> giants_apart(std::span<const std::int64_t> costs,
                                     std::span<const std::int64_t> ids, std::int64_t bins);

}  // namespace stowage
