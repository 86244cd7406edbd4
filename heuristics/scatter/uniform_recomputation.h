// Runs methods without recomputation in each recomputation mode and returns the fastest step.
//
//   std::optional<StepDraft> step = fastest_way(table, megatron_dynamic);
#pragma once

#include <optional>
#include <utility>

#include "heuristics/scatter/working_plan.h"
#include "instances/numeric/numbers.h"

namespace stowage {

// Returns the level of `table` that equals `level` of the table of one recomputation mode.
inline int level_in(const ScatterTable& table, const ScatterTable& way, int level) {
  return table.level_of(way.levels()[static_cast<std::size_t>(level)].form());
}

// Returns the fastest of the steps that `make` returns for the tables of the recomputation modes
// that hold the longest sequence, ties to the first mode. Returns nullopt if `make` returns no
// step.
template <class Make>
std::optional<StepDraft> fastest_way(const ScatterTable& table, Make make) {
  if (table.recomputations() == 1) return make(table);
  std::optional<StepDraft> best;
  for (int way = 0; way < table.recomputations(); ++way) {
    const ScatterTable& own = table.recomputing(way);
    if (own.size() > 0 && own.alone(0) == kInfinity) continue;
    std::optional<StepDraft> step = make(own);
    if (!step || (best && step_ms(table, *step) >= step_ms(table, *best))) continue;
    for (MicroBatchDraft& batch : *step) {
      for (GroupDraft& group : batch.groups) group.level = level_in(table, own, group.level);
    }
    best = std::move(step);
  }
  return best;
}

}  // namespace stowage
