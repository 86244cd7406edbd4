// Hill climbing over the order in which buffers are fitted.
//
// Buffers go to the lowest gap in order of descending size, ties by the number of overlaps. Then,
// again and again, a buffer that ends at the peak changes places in the order with one that it
// conflicts with, or with one that such a one conflicts with. A worse peak is kept with a
// probability that falls with the loss, else the exchange is taken back.
// Source: TVM, unified static memory planner, hill climb (tir/usmp/algo/hill_climb.cc), with its
// 500 attempts; the acceptance rule is ours.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/table.h"

namespace stowage {

// Offsets of the best layout met. Nothing if the budget ends before the first. Requires
// table.stackable() and pins that do not clash. O(n^2) per attempt.
std::optional<std::vector<Bytes>> hill_climb(const LayoutTable& table, int attempts,
                                             std::uint64_t seed, const Budget& budget);

}  // namespace stowage
