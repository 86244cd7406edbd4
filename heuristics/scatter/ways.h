// Ways to recompute, for methods that know of none: each by itself, the fastest wins.
//
//   std::optional<StepDraft> step = fastest_way(table, megatron_dynamic);
#pragma once

#include <optional>
#include <utility>

#include "heuristics/scatter/draft.h"
#include "instances/numbers.h"

namespace stowage {

// The level of `table` that is `level` of one of its ways.
inline int level_in(const ScatterTable& table, const ScatterTable& way, int level) {
  return table.level_of(way.levels()[static_cast<std::size_t>(level)].form());
}

// The fastest of the steps that `make` gives for a table of each way that holds the longest
// sequence; ties to the first. Nothing if there is none.
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
