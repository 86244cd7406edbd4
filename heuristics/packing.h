// Bin packing and balancing rules shared by all families.
//
// Items are named by their index into `sizes` or `loads`. All rules take items in descending size,
// ties by index, so that equal input gives equal bins. Source of the rules and of their guarantees:
// Graham 1969 (LPT), Johnson 1974 (first-fit and best-fit decreasing), Karmarkar and Karp 1982
// (largest differencing).
//
//   first_fit_decreasing({6, 5, 4}, 10)  // {{0, 2}, {1}}
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "instances/budget.h"
#include "instances/units.h"

namespace stowage {

using Bins = std::vector<std::vector<int>>;

// Each item goes to the first bin with room. Nothing if an item exceeds `capacity`. O(n log n).
std::optional<Bins> first_fit_decreasing(std::span<const Tokens> sizes, Tokens capacity);

// Each item goes to the fullest bin with room, ties to the oldest. Nothing if an item exceeds
// `capacity`. O(n log n).
std::optional<Bins> best_fit_decreasing(std::span<const Tokens> sizes, Tokens capacity);

// Cuts bins of more than `most` items into several of at most that many, in their order.
void cut_large(Bins& bins, std::int64_t most);

// Longest processing time: each item goes to the bin of least load among those whose size stays
// within `capacity`, ties to the first. `loads` may differ from `sizes` (time against memory);
// items are taken in descending load. Nothing if an item fits no bin. O(n log n)
// where sizes fall with the loads or memory is loose, O(n bins) at worst.
std::optional<Bins> longest_processing_time(std::span<const double> loads,
                                            std::span<const Tokens> sizes, int bins,
                                            Tokens capacity);

// Largest differencing for several bins: the two partial partitions of greatest spread become one,
// the fullest bins of each with the emptiest of the other, until one is left. The fullest bin comes
// first. Knows no capacity. A bin may stay empty. O(n (log n + bins)). No bins at all if the budget
// ends first. Requires bins >= 1.
Bins karmarkar_karp(std::span<const double> loads, int bins, const Budget& budget = Budget());

}  // namespace stowage
