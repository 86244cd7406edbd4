// Largest differencing for several bins (Karmarkar and Karp 1982), in near-linear time.
//
//   const std::vector<std::int64_t> costs = {9, 7, 5, 4}, ids = {0, 1, 2, 3};
//   ItemBins bins = differenced(std::span(costs), ids, 2, 1);   // {0, 3}, {1, 2}
//
// Repeatedly joins the two partial partitions of greatest spread: the most expensive bins of one
// with the cheapest bins of the other. Ties are those of verl's karmarkar_karp() (0.9,
// utils/seqlen_balancing.py). Among equal spreads, the partition whose most expensive bin comes
// first is taken. Bins are compared by cost, then by the number of items, then by the greater first
// id. So the bins have the costs of verl's bins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "heuristics/partition/item_bins.h"

namespace stowage {

// Starts with partial partitions of `each` consecutive items, one item per bin: 1 for free counts,
// `bins` for equal counts. The last partial partition may have fewer items, and a bin may stay
// empty. Requires descending costs, equal costs by descending ids, 1 <= each <= bins, and at least
// one item. A partial partition stores only the bins with items, so joining one item changes one
// bin: O(n log n + n bins log bins / each) if each > 1, and usually O(n log n) if each = 1.
ItemBins differenced(std::span<const std::int64_t> costs, std::span<const std::int64_t> ids,
                     std::int64_t bins, std::size_t each);
ItemBins differenced(std::span<const double> costs, std::span<const std::int64_t> ids,
                     std::int64_t bins, std::size_t each);

}  // namespace stowage
