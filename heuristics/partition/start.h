// Initial bins, before any exchange between them.
//
//   ItemBins bins = longest_first(costs, 8);
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "heuristics/partition/item_bins.h"

namespace stowage {

// Puts each item into the cheapest bin, ties to the bin of fewest items. No bin stays empty.
// Requires descending costs and at least as many items as bins. O(n log bins).
ItemBins longest_first(std::span<const std::int64_t> costs, std::int64_t bins);

// Separates giants: the most expensive items that exceed the average of the bins even with the
// cheapest items beside them. Each giant gets exactly these items. Distributes the other items by
// largest differencing of whole rounds, one item per bin and round (differencing.h). The last round
// may not reach all bins, so that counts differ by at most one. Returns nullopt if no item is a
// giant. Requires costs as longest_first() and ids as differenced(). O(n log n).
std::optional<ItemBins> giants_apart(std::span<const std::int64_t> costs,
                                     std::span<const std::int64_t> ids, std::int64_t bins);

}  // namespace stowage
