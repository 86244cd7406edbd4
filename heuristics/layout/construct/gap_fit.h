// Places buffers one by one into the gaps between the buffers placed before.
//
// The published baselines differ in the order of the buffers and in the choice of the gap. Pinned
// buffers are placed first. O(n^2) comparisons.
//
//   fit_in_order(table, static_order(table, "ZL"), GapRule::smallest, budget);  // greedy by size
#pragma once

#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/planning_table.h"

namespace stowage {

enum class GapRule {
  lowest,    // the lowest gap that is large enough
  smallest,  // the smallest gap that is large enough, ties to the lowest
};

// Returns the offsets of all buffers; idle buffers are at their pin or at 0. A buffer that fits no
// gap goes on top of the buffers it conflicts with. Returns nullopt if the budget ends first.
// `order` lists buffers that are neither pinned nor idle. Requires table.stackable() and pins that
// do not clash.
std::optional<std::vector<Bytes>> fit_in_order(const LayoutTable& table,
                                               const std::vector<int>& order, GapRule rule,
                                               const Budget& budget);

}  // namespace stowage
