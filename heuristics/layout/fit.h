// Fitting buffers one by one into the gaps between those already placed.
//
// The order and the choice of gap make the published baselines. Pinned buffers are there from the
// start. O(n^2) comparisons.
//
//   fit_in_order(table, static_order(table, "ZL"), GapRule::smallest, budget);  // greedy by size
#pragma once

#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/table.h"

namespace stowage {

enum class GapRule {
  lowest,    // the lowest gap that is large enough
  smallest,  // the smallest gap that is large enough, ties to the lowest
};

// Offsets of all buffers, idle ones at their pin or 0; a buffer that fits no gap goes on top of
// those it conflicts with. Nothing if the budget ends first. `order`: buffers that are neither
// pinned nor idle. Requires table.stackable() and pins that do not clash.
std::optional<std::vector<Bytes>> fit_in_order(const LayoutTable& table,
                                               const std::vector<int>& order, GapRule rule,
                                               const Budget& budget);

}  // namespace stowage
