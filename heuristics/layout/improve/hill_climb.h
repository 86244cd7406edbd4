// Hill climbing over the order in which buffers are placed.
//
// Buffers go to the lowest gap in order of descending size, ties by the number of overlaps. Each
// attempt exchanges two buffers in the order: a buffer that ends at the peak and a buffer at
// distance one or two in the conflict graph. If the new peak is higher, the exchange is kept with a
// probability that falls with the loss, and undone otherwise. Source: TVM, unified static memory
// planner, hill climb (tir/usmp/algo/hill_climb.cc), with its 500 attempts; the acceptance rule is
// stowage's own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/planning_table.h"

namespace stowage {

// Returns the offsets of the best layout found, or nullopt if the budget ends before the first
// layout. Requires table.stackable() and pins that do not clash. O(n^2) per attempt.
std::optional<std::vector<Bytes>> hill_climb(const LayoutTable& table, int attempts,
                                             std::uint64_t seed, const Budget& budget);

}  // namespace stowage
