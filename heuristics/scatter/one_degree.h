// The degree of planners that give all groups of a run the same one: the fastest of the step.
//
//   return fastest_degree(table, budget, [&](int level) { return packed_at(table, level); });
#pragma once

#include <optional>
#include <utility>

#include "heuristics/scatter/draft.h"
#include "instances/budget.h"

namespace stowage {

// The fastest step of those that `make` gives for the levels that hold the longest sequence; ties
// to the smaller degree. Nothing if there is none. At least one level is tried, whatever the
// budget.
template <class Make>
std::optional<StepDraft> fastest_degree(const ScatterTable& table, const Budget& budget,
                                        Make make) {
  std::optional<StepDraft> best;
  for (int level = 0; level < static_cast<int>(table.levels().size()); ++level) {
    if (table.size() > 0 && !table.holds(level, 0)) continue;
    if (best && budget.exhausted()) break;
    std::optional<StepDraft> step = make(level);
    if (!step) continue;
    if (!best || step_ms(table, *step) < step_ms(table, *best)) best = std::move(step);
  }
  return best;
}

}  // namespace stowage
