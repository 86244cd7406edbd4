// Of the buffers that may begin at a level, the one that leaves the fewest slivers beside it.
//
// What ends at a higher neighbour, or at the end of its component, leaves nothing there that only
// a narrow buffer could fill; what ends as high as its neighbour makes one level of two. Not for
// use outside the search. Source: the best fit of Burke, Kendall and Whitwell (Operations Research
// 52, 2004) for strips.
#pragma once

#include <span>

#include "instances/layout/table.h"
#include "instances/units.h"
#include "solvers/layout/state.h"

namespace stowage {

// Puts it first; the order of the others stays. `sections` are those of the component. Requires a
// candidate.
void put_flush_first(const LayoutTable& table, const LayoutState& state, SectionRange sections,
                     Bytes level, std::span<int> candidates);

}  // namespace stowage
