// Chooses, of the buffers that may begin at a level, the buffer that leaves the fewest slivers
// beside it.
//
// A buffer that ends at a higher neighbour, or at the end of its component, leaves no narrow gap
// there. A buffer that ends as high as its neighbour merges two levels into one. The file is
// private to the search. Source: the best fit of Burke, Kendall and Whitwell (Operations Research
// 52, 2004) for strips.
#pragma once

#include <span>

#include "instances/layout/planning_table.h"
#include "instances/units.h"
#include "solvers/layout/tree/state.h"

namespace stowage {

// Moves the chosen buffer to the front of `candidates`; the order of the others stays. `sections`
// are those of the component. Requires at least one candidate.
void put_flush_first(const LayoutTable& table, const LayoutState& state, SectionRange sections,
                     Bytes level, std::span<int> candidates);

}  // namespace stowage
