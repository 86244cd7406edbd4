// Lowers the peak of a layout of many buffers until a limit ends the work.
//
// Each round has up to three kinds of work. A dive makes a new layout, with bytes added to the
// sections where earlier layouts were too high (fullest_dive); some of many such layouts are
// better. Ejection moves the highest buffers of the best layout below a target (ejection.h); this
// helps if few buffers are alive together and few are too high. Reinsertion takes buffers out of
// the stack and puts them back (reinsertion.h); this helps if up to a few thousand buffers fit
// badly. Work that finds nothing, and dives far above the best peak, get fewer turns.
//
//   offsets = improve_layout(table, offsets, {.enough = bound}, budget, tell_user);
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "heuristics/layout/params.h"
#include "instances/budget.h"
#include "instances/layout/planning_table.h"

namespace stowage {

using BetterLayout = std::function<void(const std::vector<Bytes>& offsets)>;

struct ImproveOptions {
  Bytes enough = 0;  // a peak at which the work stops; the max load is always such a peak
  std::uint64_t seed = 0;
  LayoutHeuristicParams params = {};
};

// Returns the best layout found, never worse than `offsets`, and calls `tell` for each better
// layout. Stops when the peak is at most `enough`, when the budget ends, or after a few rounds
// without a better layout. Requires table.stackable() and pins that do not clash.
std::vector<Bytes> improve_layout(const LayoutTable& table, std::vector<Bytes> offsets,
                                  const ImproveOptions& options, Budget& budget,
                                  const BetterLayout& tell);

}  // namespace stowage
