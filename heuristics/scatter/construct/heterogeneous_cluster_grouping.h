// Groups one micro-batch on nodes that differ.
//
// The sequences are placed longest first for a given makespan. Each sequence goes to the group with
// room where it adds the least device-time. If no group has room, it opens a group of the fewest
// devices, on fast device kinds first, so that long sequences run there. Bisection finds the least
// makespan for which all sequences are placed. Then swaps and moves balance the groups.
//
//   auto batch = heterogeneous_grouping(table, positions, 64);
#pragma once

#include <optional>
#include <span>

#include "heuristics/scatter/working_plan.h"

namespace stowage {

// Returns the best grouping found, with at most `polish_rounds` moves, or nullopt if none was
// found. Requires a table of several device kinds with one recomputation mode, and ascending
// `positions`, at least one.
std::optional<WorkingMicroBatch> heterogeneous_grouping(const ScatterTable& table,
                                                        std::span<const int> positions,
                                                        int polish_rounds);

}  // namespace stowage
