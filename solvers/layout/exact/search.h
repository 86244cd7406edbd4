// Exact search for layouts: finds the least peak, or decides whether a layout fits a capacity.
//
// Results are proven: `exhausted` means that no layout exists within the capacity, and a bound is
// raised only after the space below it is exhausted. A budget that ends proves nothing. The search
// depends on the instance and on node limits only, never on the clock.
//
//   const LayoutTable table(instance);
//   Budget budget({.time_limit_s = 5});
//   const LayoutMinimum best = minimise_layout(table, {.bound = table.max_load()}, budget);
//   if (best.offsets && best.peak == best.bound) ...  // optimal
//
// Source: canonical search of MiniMalloc (Moffitt, ASPLOS 2023), see solvers/layout/tree/tree.h;
// the ladder of capacities is stowage's own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/planning_table.h"
#include "solvers/layout/params.h"

namespace stowage {

// Returns true if the search can start. The search lists the conflicting pairs of buffers, so their
// number is limited. The sum of all sizes must be exact.
bool can_be_searched(const LayoutTable& table, const LayoutSearchParams& params = {});

// Reasons for the end of a search. too_large: the search did not start. gap: the layout is within
// the gap of the bound.
enum class LayoutEnd { layout, exhausted, gap, budget, too_large };

// Facts known before the search. Every value must be true of the instance.
struct LayoutStart {
  Bytes bound = 0;                            // no layout has a smaller peak
  std::optional<Bytes> capacity;              // layouts with a larger peak are not wanted
  std::optional<std::vector<Bytes>> offsets;  // a layout, within the capacity
  double gap = 0;  // the search stops at a layout within this gap of the bound
};

struct LayoutMinimum {
  // layout: optimal, peak == bound. exhausted: no layout exists within the capacity.
  LayoutEnd end = LayoutEnd::budget;
  std::optional<std::vector<Bytes>> offsets;  // the best layout known
  Bytes peak = 0;                             // peak of `offsets` in bytes
  Bytes bound = 0;                            // proven lower bound in bytes
};

// Function called whenever the peak or the bound improves, with the result so far.
using LayoutProgress = std::function<void(const LayoutMinimum&)>;

// Returns a layout of least peak. Searches the capacity of the bound first, then a ladder of
// capacities up to the incumbent in turns, because the difficulty is not monotone in the capacity.
// If there are few buffers, one order also searches the capacity just below the incumbent.
LayoutMinimum minimise_layout(const LayoutTable& table, const LayoutStart& start, Budget& budget,
                              const LayoutProgress& progress = {},
                              const LayoutSearchParams& params = {});

}  // namespace stowage
