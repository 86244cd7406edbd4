// Groups for one micro-batch on nodes that differ.
//
// For a makespan the sequences are placed one by one, longest first: into the group that has room
// and takes the least more device-time for it, or into a new group of the least devices, those of
// fast kinds first, so that long sequences come to them. Bisection finds the least makespan for
// which this places all; exchanges and moves then even it out.
//
//   auto batch = group_on_kinds(table, positions, 64);
#pragma once

#include <optional>
#include <span>

#include "heuristics/scatter/draft.h"

namespace stowage {

// The best grouping found, with at most so many moves, or nothing if none was. Requires a table of
// several kinds whose levels recompute in one way, and `positions` ascending, one at least.
std::optional<MicroBatchDraft> group_on_kinds(const ScatterTable& table,
                                              std::span<const int> positions, int polish_rounds);

}  // namespace stowage
