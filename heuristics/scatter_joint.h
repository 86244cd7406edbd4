// A whole step at once: chunks, groups, and exchange between micro-batches.
#pragma once

#include <cstdint>
#include <optional>

#include "heuristics/scatter_chunking.h"
#include "heuristics/scatter_draft.h"
#include "heuristics/scatter_grouping.h"
#include "instances/budget.h"

namespace stowage {

// Groups every chunk; a chunk that cannot be grouped is halved until its parts can. Nothing if the
// budget ends first. Requires every sequence to fit some level.
std::optional<StepDraft> group_chunks(const ScatterTable& table, const Chunks& chunks,
                                      const GroupingEffort& effort, const Budget& budget);

// Ruin and recreate over pairs of micro-batches: takes a few sequences out of both, puts each back
// where the two makespans grow least, polishes, keeps the pair if its sum did not grow. Drops
// micro-batches that run empty. Never makes the step worse. Deterministic in `seed` and
// `iterations` unless the budget ends first.
void exchange(const ScatterTable& table, StepDraft& step, int iterations, std::uint64_t seed,
              const Budget& budget);

// Tries to do without a micro-batch, shortest makespans first: spreads its sequences over the
// others and regroups those that received some; kept if the step gets faster. Gives up after a few
// failures, or when the budget ends.
void dissolve(const ScatterTable& table, StepDraft& step, const GroupingEffort& effort,
              const Budget& budget);

}  // namespace stowage
