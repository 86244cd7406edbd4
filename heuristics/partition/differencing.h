// Largest differencing for several bins (Karmarkar and Karp 1982), in near-linear time.
//
//   const std::vector<std::int64_t> costs = {9, 7, 5, 4}, ids = {0, 1, 2, 3};
//   ItemBins bins = differenced(std::span(costs), ids, 2, 1);   // {0, 3}, {1, 2}
//
// The two partial partitions of greatest spread become one, the dearest bins of each with the
// cheapest of the other, until one is left. Ties are those of verl's karmarkar_karp() (0.9,
// utils/seqlen_balancing.py): of equal spreads the one whose dearest bin comes first, of bins the
// one of greater cost, then of more items, then of the greater first id. The bins then have the
// costs that verl's have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "heuristics/partition/item_bins.h"

namespace stowage {

// Begins with partial partitions of `each` consecutive items, one a bin: 1 for bins of any counts,
// `bins` for equal ones. The last of them may have fewer, and a bin may stay empty. Requires costs
// that fall and that of equal ones fall by id, from 1 to `bins` items each, and at least one item.
// A partial partition keeps the bins that have items, and one item that joins it moves one bin:
// O(n log n + n bins log bins / each) where each > 1, and mostly O(n log n) where it is 1.
ItemBins differenced(std::span<const std::int64_t> costs, std::span<const std::int64_t> ids,
                     std::int64_t bins, std::size_t each);
ItemBins differenced(std::span<const double> costs, std::span<const std::int64_t> ids,
                     std::int64_t bins, std::size_t each);

}  // namespace stowage
