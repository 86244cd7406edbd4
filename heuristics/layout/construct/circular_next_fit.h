// Circular next fit: buffers are placed one behind the other around a ring, in order of their
// starts.
//
// A buffer goes into the first gap at or behind the end of the previous buffer in which it ends
// within the ring. At the ring's end the search continues from address 0. If lifetimes are about
// equal, neighbours in memory end together and gaps stay whole, so that the peak is close to the
// load. Long lifetimes among short ones fragment the ring. Gaps in lifetimes are not used. Source:
// next fit (Knuth, The Art of Computer Programming 1, section 2.5).
//
//   const auto offsets = lay_round_a_ring(table, table.max_load(), budget);
#pragma once

#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/planning_table.h"

namespace stowage {

// Returns the offsets of all buffers; idle buffers are at 0. A buffer that finds no gap within the
// ring's bytes goes to the lowest gap that is large enough. Returns nullopt if a buffer is pinned,
// the budget ends first, or too many gaps were visited. Requires table.stackable().
std::optional<std::vector<Bytes>> lay_round_a_ring(const LayoutTable& table, Bytes ring,
                                                   const Budget& budget);

}  // namespace stowage
