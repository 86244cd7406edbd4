// Chooses the degree for planners that give all groups of a run the same degree: the fastest for
// this step.
//
//   return fastest_degree(table, budget, [&](int config) { return packed_at(table, config); });
#pragma once

#include <optional>
#include <utility>

#include "heuristics/scatter/improve/rule_repair.h"
#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"

namespace stowage {

// Returns the fastest planned step among the steps that `make` returns for each configuration that
// holds the longest sequence, ties to the smaller degree. Returns nullopt if `make` returns no
// step. At least one step is tried, even without budget.
template <class Make>
std::optional<WorkingStep> fastest_degree(const ScatterTable& table, const Budget& budget,
                                          Make make) {
  std::optional<TimedWorkingStep> best;
  for (int config = 0; config < static_cast<int>(table.configs().size()); ++config) {
    if (table.size() > 0 && !table.holds(config, 0)) continue;
    if (best && budget.exhausted()) break;
    std::optional<WorkingStep> step = make(config);
    if (!step) continue;
    TimedWorkingStep planned = as_planned(table, *std::move(step));
    if (!best || planned.time < best->time) best = std::move(planned);
  }
  if (!best) return std::nullopt;
  return std::move(best->step);
}

}  // namespace stowage
