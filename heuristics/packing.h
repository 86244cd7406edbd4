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

// First-fit decreasing: each item goes to the first bin with room. Returns nullopt if an item
// exceeds `capacity`. O(n log n).
std::optional<Bins> first_fit_decreasing(std::span<const Tokens> sizes, Tokens capacity);

// First-fit: as first_fit_decreasing(), but takes the items in their order.
std::optional<Bins> first_fit(std::span<const Tokens> sizes, Tokens capacity);

// Best-fit decreasing: each item goes to the fullest bin with room, ties to the oldest bin. Returns
// nullopt if an item exceeds `capacity`. O(n log n).
std::optional<Bins> best_fit_decreasing(std::span<const Tokens> sizes, Tokens capacity);

// Cuts each bin of more than `most` items into bins of at most `most` items, in the order of the
// items.
void cut_large(Bins& bins, std::int64_t most);

// Longest processing time: each item goes to the bin of least load among the bins with enough room,
// ties to the first bin. `loads` may differ from `sizes` (time against memory). Items are taken in
// descending load. Returns nullopt if an item fits no bin. O(n log n) if sizes fall with the loads
// or memory is loose, O(n bins) in the worst case.
std::optional<Bins> longest_processing_time(std::span<const double> loads,
                                            std::span<const Tokens> sizes, int bins,
                                            Tokens capacity);

// Largest differencing for several bins. Each round joins the two partial partitions of greatest
// spread: the fullest bins of one with the emptiest bins of the other. The fullest bin comes first.
// No capacity is respected, and a bin may stay empty. Returns an empty list if the budget ends
// first. Requires bins >= 1. O(n (log n + bins)).
Bins karmarkar_karp(std::span<const double> loads, int bins, const Budget& budget = Budget());

}  // namespace stowage
