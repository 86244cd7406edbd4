// Buffers laid one behind the other round a ring, as they begin: what comes first leaves first.
//
// Next fit: a buffer goes into the first gap at or behind the end of the buffer before it in which
// it ends within the ring, and the search goes on from address 0 at the ring's end. Where lifetimes
// are about equal, neighbours in memory end together and gaps stay whole: the peak is then about as
// high as the load. Long lifetimes among short ones cut the ring into pieces. Gaps in lifetimes are
// not used.
// Source: next fit (Knuth, The Art of Computer Programming 1, section 2.5).
//
//   const auto offsets = lay_round_a_ring(table, table.max_load(), budget);
#pragma once

#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/table.h"

namespace stowage {

// Offsets of all buffers, idle ones 0; what finds no gap within the ring's bytes goes to the lowest
// gap that is large enough. Nothing if a buffer is pinned, the budget ends first, or too many gaps
// would have to be looked at. Requires table.stackable().
std::optional<std::vector<Bytes>> lay_round_a_ring(const LayoutTable& table, Bytes ring,
                                                   const Budget& budget);

}  // namespace stowage
