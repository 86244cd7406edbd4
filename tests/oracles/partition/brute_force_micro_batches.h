// The best micro-batches of a few sequences, by exhaustive enumeration.
//
//   const auto best = brute_force_micro_batches(instance);
#pragma once

#include <cstdint>
#include <optional>

#include "instances/partition/micro_batches.h"

namespace stowage {

struct MicroBatchOptimum {
  std::int64_t each = 0;     // fewest micro-batches of a rank
  std::int64_t largest = 0;  // with so many, the least cost of the most expensive rank
};

// Returns nullopt if there is no plan. Requires an instance without errors and few sequences:
// (ranks * micro-batches)^n plans are tried.
std::optional<MicroBatchOptimum> brute_force_micro_batches(const MicroBatchInstance& instance);

}  // namespace stowage
