// Distributes items over bins of nearly equal cost: a greedy start, then exchanges between two
// bins.
//
//   const auto bins = balance(costs, {.bins = 8, .fewest = 1, .most = n});   // indices into costs
//
// 1. The start is LPT (Graham 1969) if counts are free. Otherwise it is largest differencing of
// rounds of one item per bin (Karmarkar and Karp 1982), and items that are too expensive for it get
// bins of their own, with the cheapest items.
// 2. Bins of many items are levelled: one bin after another shares its items with a second bin so
// that it costs the average.
// 3. The largest or the smallest bin exchanges up to three items with another bin, as long as that
// helps. The items are chosen so that the two bins get as close to each other as possible.
//
// Largest differencing of all items, which verl uses, is tried as a second start. It is improved
// too if it is better than the result so far, or if there are few items and bins. So the result is
// never worse than verl's. All arithmetic is on integers, without clock and random numbers: the
// same input gives the same bins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stowage {

struct BalanceRules {
  std::int64_t bins = 1;
  std::int64_t fewest = 1;  // per bin, at least
  std::int64_t most = 1;    // per bin, at most
  std::int64_t enough = 0;  // a largest bin of at most this cost is not improved
};

// Returns the items of each bin, ascending. Minimises the cost of the largest bin first, then
// maximises the cost of the smallest. Requires 1 <= bins, bins * fewest <= n <= bins * most, fewest
// >= 1, and costs of at least 0 that sum to at most kMaxExact. Takes O(n log n) time plus exchanges
// within a fixed amount of work, about n * bins steps. If counts are free and n * bins exceeds
// 100,000,000, differencing of all items is skipped.
std::vector<std::vector<std::int64_t>> balance(std::span<const std::int64_t> costs,
                                               const BalanceRules& rules);

}  // namespace stowage
