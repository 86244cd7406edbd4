// Few lengths instead of many: sequences of a chunk rounded up to at most Q common lengths.
// Source: FlexSP (arXiv 2412.01523, section 4.4, sequence bucketing by dynamic programming).
#pragma once

#include <span>
#include <vector>

#include "instances/scatter/table.h"

namespace stowage {

struct Bucket {
  Tokens length = 0;           // of its longest sequence
  std::vector<int> positions;  // ascending
};

// Buckets of consecutive lengths, longest first, that add the fewest tokens when every sequence is
// rounded up to its bucket's length. Requires `positions` ascending and count >= 1. O(n^2 count)
// for n distinct lengths.
std::vector<Bucket> bucket_lengths(const ScatterTable& table, std::span<const int> positions,
                                   int count);

}  // namespace stowage
