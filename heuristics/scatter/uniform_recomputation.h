// Runs methods without recomputation in each recomputation mode and returns the fastest step.
//
//   std::optional<WorkingStep> step = fastest_recomputation(table, megatron_dynamic);
#pragma once

#include <optional>
#include <utility>

#include "heuristics/scatter/working_plan.h"
#include "instances/numeric/numbers.h"

namespace stowage {

// Returns the configuration of `table` that equals `configuration` of the table of one
// recomputation mode.
inline int config_in(const ScatterTable& table, const ScatterTable& mode, int config) {
  return table.config_of(mode.configs()[static_cast<std::size_t>(config)].form());
}

// Returns the fastest of the steps that `make` returns for the tables of the recomputation modes
// that hold the longest sequence, ties to the first mode. Returns nullopt if `make` returns no
// step.
template <class Make>
std::optional<WorkingStep> fastest_recomputation(const ScatterTable& table, Make make) {
  if (table.recomputations() == 1) return make(table);
  std::optional<WorkingStep> best;
  for (int mode = 0; mode < table.recomputations(); ++mode) {
    const ScatterTable& own = table.recomputing(mode);
    if (own.size() > 0 && own.alone(0) == kInfinity) continue;
    std::optional<WorkingStep> step = make(own);
    if (!step || (best && step_ms(table, *step) >= step_ms(table, *best))) continue;
    for (WorkingMicroBatch& batch : *step) {
      for (WorkingGroup& group : batch.groups) group.config = config_in(table, own, group.config);
    }
    best = std::move(step);
  }
  return best;
}

}  // namespace stowage
