// Stacking in an order, and annealing over orders.
//
// An order is decoded by stacking: each buffer goes on top of all buffers before it that it
// conflicts with, aligned and clear of pinned ones. The peak is then the longest path through the
// conflicts, each directed from the earlier to the later buffer, and some order decodes to an
// optimum. One move takes a buffer out; the longest paths below and above every other buffer, from
// one sweep up and one down, tell for each position the longest path through the buffer if it were
// put back there, and it goes to a good one. Noise in that choice cools down.
// Our own; the order view is that of longest paths in disjunctive graphs (Roy, Sussmann 1964).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/table.h"

namespace stowage {

// The best layout met, never worse than `offsets`. `moves` at most; stops at the max load. One move
// costs as much as stacking twice.
std::vector<Bytes> anneal_stack(const LayoutTable& table, std::vector<Bytes> offsets,
                                std::int64_t moves, std::uint64_t seed, const Budget& budget);

// All buffers one above the other, wherever nothing is pinned: the only layout that takes no time
// to speak of, and no table. Nothing if it would end beyond kMaxExact. Requires pins that do not
// clash.
std::optional<std::vector<Bytes>> pile(const LayoutInstance& instance);

}  // namespace stowage
