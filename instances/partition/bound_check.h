// Recomputes the stated lower bounds of partitions and of micro-batches, for their verifiers. The
// code is independent of formulations/partition.
//
//   checked_bin_bound("average", {3, 5, 4}, 2, 1)  // 6
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "instances/units.h"

namespace stowage {

// Returns the value of a bound on the largest bin, "average" [Q1] or "pigeonhole" [Q2], for items
// of these costs in `bins` bins of at least `fewest` items; nullopt for another name. Requires at
// least one bin and at least bins * fewest items. O(n log n).
std::optional<std::int64_t> checked_bin_bound(std::string_view name,
                                              std::vector<std::int64_t> costs, std::int64_t bins,
                                              std::int64_t fewest);

// Returns the value of a bound on the number of bins of `capacity` that hold items of these sizes,
// "tokens" [Q3], "large" [Q4] or "staircase" [Q5]; nullopt for another name. Requires sizes from 1
// to `capacity`. O(n log n).
std::optional<std::int64_t> checked_bin_count(std::string_view name, std::vector<Tokens> sizes,
                                              Tokens capacity);

}  // namespace stowage
