// The best partition of a few sequences, by exhaustive enumeration.
//
//   const PartitionOptimum best = brute_force_partition(instance);
#pragma once

#include <cstdint>

#include "instances/partition/partition.h"

namespace stowage {

struct PartitionOptimum {
  std::int64_t largest = 0;   // no partition has less
  std::int64_t smallest = 0;  // the largest possible value among partitions with that largest bin
};

// Requires an instance without errors and few sequences: bins^n partitions are tried.
PartitionOptimum brute_force_partition(const PartitionInstance& instance);

}  // namespace stowage
