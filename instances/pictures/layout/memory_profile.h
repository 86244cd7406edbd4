// The memory of a layout that is in use at every step, and its highest byte.
//
//   for (const MemorySegment& stretch : memory_profile(instance, plan)) ...
//   free_share(profile)        // of the memory below the highest byte in use
#pragma once

#include <cstdint>
#include <vector>

#include "instances/layout/instance.h"
#include "instances/layout/plan.h"

namespace stowage {

// Steps [lower, upper) in which memory does not change.
struct MemorySegment {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  Bytes top = 0;   // the largest offset + size that is needed
  Bytes used = 0;  // the sum of the sizes that are needed

  bool operator==(const MemorySegment&) const = default;
};

// Returns the ranges of steps from the first step of any buffer to the last, without gaps; empty
// without buffers. Requires a valid plan. O(n log n).
std::vector<MemorySegment> memory_profile(const LayoutInstance& instance, const LayoutPlan& plan);

// Returns the free share of the memory below the tops, summed over the steps: fragmentation. 0 to
// 1.
double free_share(const std::vector<MemorySegment>& profile);

}  // namespace stowage
