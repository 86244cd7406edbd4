// Items over bins of nearly equal cost: a greedy start, then exchanges between two bins.
//
//   const auto bins = balance(costs, {.bins = 8, .fewest = 1, .most = n});   // indices into costs
//
// The start is LPT (Graham 1969) where counts are free, and otherwise largest differencing of
// rounds of one item a bin (Karmarkar and Karp 1982), beside items that are too dear for it. What
// differencing of all items gives, which is what verl uses, is tried as well, and improved likewise
// if it is better than what has come of the other start, or if there are few items and bins. The
// result is therefore never worse than it. Bins of many items are levelled: one after another
// shares its items anew with a second one so that it costs the average. In the end the largest bin
// exchanges items with another one, or the smallest, as long as that helps: up to three items of
// each, chosen so that the two bins come as close to each other as they can. Integers throughout,
// no clock and no random numbers: the same input gives the same bins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stowage {

struct BalanceRules {
  std::int64_t bins = 1;
  std::int64_t fewest = 1;  // items of a bin
  std::int64_t most = 1;    // items of a bin
  std::int64_t enough = 0;  // a largest bin of this cost or less is not made cheaper
};

// The items of each bin, ascending. First the largest bin is made as cheap as the search can, then
// the smallest as dear. Requires 1 <= bins, bins * fewest <= n <= bins * most, fewest >= 1, and
// costs of at least 0 that sum to at most kMaxExact. Time O(n log n) and a number of exchanges that
// a fixed amount of work limits, about n * bins steps. With free counts differencing of all items
// is left out where n * bins is above 100,000,000.
std::vector<std::vector<std::int64_t>> balance(std::span<const std::int64_t> costs,
                                               const BalanceRules& rules);

}  // namespace stowage
