// Splits a set of items into two bins of a given difference: largest differencing of two bins.
//
//   // 9 7 5 4 2 as 14 and 13: true for the items of one side
//   const std::vector<bool> side = split_two(costs, items, false, 0);
//
// Source: Karmarkar and Karp 1982; with equal counts, of pairs of neighbours (Coffman, Frederickson
// and Lueker 1984).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stowage {

// Splits the items so that the costs of the two sides differ by about `difference` (>= 0). Returns
// for each item if it is on the first side, which costs more. `items` index `costs` by descending
// cost. If `paired`, the sides have equal counts, or counts that differ by one for an odd number of
// items. O(n log n).
std::vector<bool> split_two(std::span<const std::int64_t> costs,
                            std::span<const std::int32_t> items, bool paired,
                            std::int64_t difference);

}  // namespace stowage
