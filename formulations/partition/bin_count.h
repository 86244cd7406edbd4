// Lower bounds on the number of bins of a capacity that hold given sizes: rows of a token limit, or
// micro-batches.
//
//   least_rows(std::vector<Tokens>{60, 60, 41, 41}, 100)                 // 3
//   for (const PartitionBound& bound : bin_count_bounds(sizes, 100)) ...  // weakest first
//
// Proofs are in docs/theory/partitions.md under the bounds' names.
#pragma once

#include <span>
#include <vector>

#include "formulations/partition/bounds.h"
#include "instances/units.h"

namespace stowage {

// Returns the larger of ceil(sum / cap) and Martello and Toth's L2 (1990). Requires descending
// lengths of at most `cap`. O(n log n).
Tokens least_rows(std::span<const Tokens> lengths, Tokens cap);

// Returns all bounds, weakest first:
//   tokens     all sizes spread evenly, rounded up [Q3]
//   large      sizes above half the capacity share no bin (Martello and Toth's L2, 1990) [Q4]
//   staircase  the best of the dual feasible functions u_k (Fekete and Schepers 2001) [Q5]
// Requires descending sizes of at least 1 and at most `capacity`, which sum to at most kMaxExact.
// O(n log n).
std::vector<PartitionBound> bin_count_bounds(std::span<const Tokens> sizes, Tokens capacity);

}  // namespace stowage
