// The canonical dive: the deepest valley of the skyline takes the first buffer that fits into it.
//
// Always works at the lowest place where some buffer can still lie on those already placed, and
// breaks ties by a static order: the first branch of the exact search, in O(n log^2 n). A valley
// that no waiting buffer fits into is filled up to its lower rim. Buffers with gaps are treated as
// if they had none. A buffer that would hit a pinned one waits until the skyline has passed it.
// Source: the search order of MiniMalloc (Moffitt, ASPLOS 2023); skyline valleys as in best-fit
// strip packing (Burke, Kendall, Whitwell 2004).
//
//   const auto offsets = canonical_dive(table, static_order(table, "TWA"), budget);
#pragma once

#include <optional>
#include <vector>

#include "heuristics/layout/params.h"
#include "instances/budget.h"
#include "instances/layout/table.h"

namespace stowage {

// Offsets of all buffers, idle ones at their pin or 0. Nothing if the budget ends first. `order`:
// all buffers that are neither pinned nor idle. Requires table.stackable() and pins that do not
// clash.
std::optional<std::vector<Bytes>> canonical_dive(const LayoutTable& table,
                                                 const std::vector<int>& order,
                                                 const Budget& budget);

// The same, but what a valley takes covers the section with the most bytes still to place: there
// waste costs most. `more`: bytes by section that are added to what is left to place there; all 0,
// or where earlier layouts were too high. Pinned buffers, and those that wait for one to be passed,
// are not counted. The order decides nothing but ties (fullest_index.h).
std::optional<std::vector<Bytes>> fullest_dive(const LayoutTable& table,
                                               const std::vector<int>& order,
                                               const std::vector<Bytes>& more, const Budget& budget,
                                               const FullestDiveParams& params = {});

}  // namespace stowage
