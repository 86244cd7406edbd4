// Lowering the peak of a layout of many buffers for as long as there is time.
//
// Rounds of three kinds of work. A dive is made anew, with more bytes pretended where layouts
// before were too high (fullest_dive): of many such layouts some are better. What is highest in the
// best layout is ejected and put in below (ejection.h): that helps where few buffers are alive
// together, and few are too high. Buffers of the stack are taken out and put in again
// (reinsertion.h): that helps where up to a few thousand buffers fit badly. Dives that are far
// behind and work that finds nothing have fewer turns.
//
//   offsets = improve_layout(table, offsets, {.enough = bound}, budget, tell_user);
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "heuristics/layout/params.h"
#include "instances/budget.h"
#include "instances/layout/table.h"

namespace stowage {

using BetterLayout = std::function<void(const std::vector<Bytes>& offsets)>;

struct ImproveOptions {
  Bytes enough = 0;  // a peak that need not be lowered; the max load never need
  std::uint64_t seed = 0;
  LayoutHeuristicParams params = {};
};

// The best layout met, never worse than `offsets`; each better one is told. Ends when it is low
// enough, with the budget, or after a few rounds that have found nothing better. Requires
// table.stackable() and pins that do not clash.
std::vector<Bytes> improve_layout(const LayoutTable& table, std::vector<Bytes> offsets,
                                  const ImproveOptions& options, Budget& budget,
                                  const BetterLayout& tell);

}  // namespace stowage
