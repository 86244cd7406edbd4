// Lowers the peak of a layout of many buffers, one window of time after another.
//
// A layout of many short buffers exceeds a target in few places. A window of sections around the
// highest buffer has some hundred buffers. Those that begin and end inside are taken out of the
// stack and put back by reinsertion (reinsertion.h), and those that cross a border of the window
// keep their offsets. So a window costs the same in an instance of any number of buffers. A window
// in vain is tried again with twice the buffers. Source: large neighbourhood search (Shaw 1998).
//
//   offsets = lower_windows(table, std::move(offsets), enough, seed, budget, tell);
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/layout/improve/improvement_rounds.h"
#include "heuristics/layout/params.h"
#include "instances/budget.h"
#include "instances/layout/planning_table.h"

namespace stowage {

// Returns the best layout found, never worse than `offsets`. Stops when the peak is at most
// `enough` or the max load, when the budget ends, or when the windows around the highest buffer are
// in vain. Requires table.stackable() and no pins.
std::vector<Bytes> lower_windows(const LayoutTable& table, std::vector<Bytes> offsets,
                                 const ImproveOptions& options, Budget& budget,
                                 const BetterLayout& tell);

}  // namespace stowage
