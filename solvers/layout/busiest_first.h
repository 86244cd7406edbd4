// Layouts of the busiest buffers first, at fixed offsets, and of all others around them.
//
// Sections whose load is near the maximum allow almost no waste. The buffers that are alive there
// are few in many instances, and a layout of them alone often ends at the load where a layout of
// all buffers does not. Such a layout becomes pins of all other buffers, which have room beside
// them, because their sections are less busy. Unlike core_first.h, the method needs no stack of all
// buffers, so it applies to any number of buffers.
//
//   for_busiest_first(instance, table, lay_out, peak, budget, tell);
//
// Source: the parts of core_first.h, laid out as the first level of MEMO (arXiv 2407.12117) is.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "heuristics/layout/improve/improvement_rounds.h"
#include "instances/budget.h"
#include "instances/layout/instance.h"
#include "instances/layout/planning_table.h"

namespace stowage {

// Returns the offsets of a layout of an instance, or nullopt if there is none.
using LayOut = std::function<std::optional<std::vector<Bytes>>(const LayoutInstance& instance,
                                                               const LayoutTable& table)>;

// Calls `tell` with each layout whose peak is below `peak`, the best peak so far. Each attempt
// fixes the buffers of the sections with at least one share of the largest load
// (layout_fixed::kBusyShares). Ends at a layout of the largest load, or with the budget. Requires a
// table without pins.
void lay_busiest_first(const LayoutInstance& instance, const LayoutTable& table,
                       const LayOut& lay_out, Bytes peak, const Budget& budget,
                       const BetterLayout& tell);

}  // namespace stowage
