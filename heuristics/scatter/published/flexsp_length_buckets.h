// Reduces the number of distinct lengths: sequences are rounded up to at most Q common lengths.
// Source: FlexSP (arXiv 2412.01523, section 4.4, sequence bucketing by dynamic programming).
#pragma once

#include <span>
#include <vector>

#include "instances/scatter/table/planning_table.h"

namespace stowage {

struct Bucket {
  Tokens length = 0;           // of the longest sequence
  std::vector<int> positions;  // ascending
};

// Returns buckets of consecutive lengths, longest first. Every sequence is rounded up to its
// bucket's length, and the buckets add the fewest tokens. Requires `positions` ascending and count
// >= 1. O(n^2 count) for n distinct lengths.
std::vector<Bucket> bucket_lengths(const ScatterTable& table, std::span<const int> positions,
                                   int count);

}  // namespace stowage
