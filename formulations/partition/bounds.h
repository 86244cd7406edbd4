// Lower bounds on the largest bin of a balanced partition.
//
//   for (const PartitionBound& bound : partition_bounds(costs, 8, 1)) ...   // weakest first
//
// Proofs are in docs/theory/partitions.md under the bounds' names. The bounds are integers, because
// the optimum often equals one of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stowage {

struct PartitionBound {
  std::string name;
  std::int64_t value = 0;
};

// Returns all bounds, weakest first:
//   average     all costs spread evenly, rounded up [Q1]
//   pigeonhole  sequences of which some must share a bin [Q2]
// Every bin holds at least `fewest` sequences. Requires costs of at least 0 that sum to at most
// kMaxExact, 1 <= bins <= their number, and bins * fewest <= their number. O(n log n).
std::vector<PartitionBound> partition_bounds(std::span<const std::int64_t> costs, std::int64_t bins,
                                             std::int64_t fewest);

}  // namespace stowage
