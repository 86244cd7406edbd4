// Bins to begin with, before anything is exchanged between them.
//
//   ItemBins bins = longest_first(costs, 8);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stowage {

// The items of each bin, ascending indices into costs that fall.
using ItemBins = std::vector<std::vector<std::int32_t>>;

// Each item to the cheapest bin, ties to the one of fewest items: no bin stays empty. Requires
// falling costs, at least as many as bins. O(n log bins).
ItemBins longest_first(std::span<const std::int64_t> costs, std::int64_t bins);

// Largest differencing of single items (Karmarkar and Karp 1982): the two partial partitions of
// greatest spread become one, the dearest bins of each with the cheapest of the other, until one is
// left. A bin may stay empty. Requires as longest_first(). Memory n * bins; O(n bins log bins).
ItemBins differenced_items(std::span<const std::int64_t> costs, std::int64_t bins);

// A dearest item that is above the average of the bins with the cheapest of company gets just that.
// The rest by largest differencing of whole rounds, an item a bin and round. The last round may not
// reach all bins, so that counts differ by at most one. Requires as longest_first(). O(n log n).
ItemBins differenced_rounds(std::span<const std::int64_t> costs, std::int64_t bins);

}  // namespace stowage
