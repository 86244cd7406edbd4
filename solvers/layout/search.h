// Exact search for layouts: which has the least peak, and does one fit a capacity at all.
//
// The search proves what it says: `exhausted` means that no layout exists below the capacity, and a
// bound is raised only when the space below it is exhausted. A budget that ends proves nothing.
// The course depends on the instance and on node limits only, never on the clock.
//
//   const LayoutTable table(instance);
//   Budget budget({.time_limit_s = 5});
//   const LayoutMinimum best = minimise_layout(table, {.bound = table.max_load()}, budget);
//   if (best.offsets && best.peak == best.bound) ...  // optimal
//
// Source: canonical search of MiniMalloc (Moffitt, ASPLOS 2023), see tree.h; the ladder of
// capacities is ours.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/table.h"
#include "solvers/layout/params.h"

namespace stowage {

// Returns whether the search starts: it lists the pairs of buffers that conflict, of which there
// must not be too many, and the sum of all sizes must be exact.
bool can_be_searched(const LayoutTable& table, const LayoutSearchParams& params = {});

// Why a search ended. too_large: the search does not start.
// gap: the layout is near enough to the bound.
enum class LayoutEnd { layout, exhausted, gap, budget, too_large };

// What is known before the search. Every figure must be true of the instance.
struct LayoutStart {
  Bytes bound = 0;                            // no layout has a smaller peak
  std::optional<Bytes> capacity;              // layouts above it are of no use
  std::optional<std::vector<Bytes>> offsets;  // a layout, within the capacity
  double gap = 0;                             // a layout no further from the bound is good enough
};

struct LayoutMinimum {
  // layout: optimal, peak == bound. exhausted: there is no layout within the capacity.
  LayoutEnd end = LayoutEnd::budget;
  std::optional<std::vector<Bytes>> offsets;  // the best layout known
  Bytes peak = 0;                             // of it
  Bytes bound = 0;                            // proven
};

// Called whenever the peak or the bound improves, with what is known then.
using LayoutProgress = std::function<void(const LayoutMinimum&)>;

// The least peak. Searches the capacity of the bound first, then a ladder of capacities up to the
// incumbent, in turns: how hard a capacity is does not grow or fall steadily with it. Of few
// buffers one order searches the capacity below the incumbent besides.
LayoutMinimum minimise_layout(const LayoutTable& table, const LayoutStart& start, Budget& budget,
                              const LayoutProgress& progress = {},
                              const LayoutSearchParams& params = {});

}  // namespace stowage
