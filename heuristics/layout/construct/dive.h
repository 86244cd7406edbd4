// The canonical dive: the lowest valley of the skyline takes the first buffer of a static order
// that fits into it.
//
// The dive is the first branch of the exact search, in O(n log^2 n). Each buffer is placed at the
// lowest offset at which some waiting buffer can rest on placed buffers, and the static order
// breaks ties. If no waiting buffer fits into a valley, the valley is filled up to its lower rim.
// Gaps in a buffer's lifetime are ignored. A buffer that would overlap a pinned buffer waits until
// the skyline has passed the pinned buffer. Source: the search order of MiniMalloc (Moffitt, ASPLOS
// 2023); skyline valleys as in best-fit strip packing (Burke, Kendall, Whitwell 2004).
//
//   const auto offsets = canonical_dive(table, static_order(table, "TWA"), budget);
#pragma once

#include <optional>
#include <vector>

#include "heuristics/layout/params.h"
#include "instances/budget.h"
#include "instances/layout/planning_table.h"

namespace stowage {

// Returns the offsets of all buffers; idle buffers are at their pin or at 0. Returns nullopt if the
// budget ends first. `order` lists all buffers that are neither pinned nor idle. Requires
// table.stackable() and pins that do not clash.
std::optional<std::vector<Bytes>> canonical_dive(const LayoutTable& table,
                                                 const std::vector<int>& order,
                                                 const Budget& budget);

// Returns a layout like canonical_dive(), but a valley takes a buffer that covers the section with
// the most bytes still to place, because waste costs most there. `more` adds bytes to each
// section's sum: 0, or more where earlier layouts were too high. Pinned buffers, and buffers that
// wait for the skyline to pass a pinned buffer, are not counted. The order only breaks ties
// (heuristics/layout/index/next_buffer_by_load.h).
std::optional<std::vector<Bytes>> fullest_dive(const LayoutTable& table,
                                               const std::vector<int>& order,
                                               const std::vector<Bytes>& more, const Budget& budget,
                                               const FullestDiveParams& params = {});

}  // namespace stowage
