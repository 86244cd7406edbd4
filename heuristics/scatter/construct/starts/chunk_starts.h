// Starts that cut the step into chunks, one for each micro-batch, and group each chunk.
#pragma once

#include <optional>
#include <vector>

#include "heuristics/scatter/construct/chunking.h"
#include "heuristics/scatter/construct/grouping.h"
#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"

namespace stowage {

// Groups every chunk. A chunk that cannot be grouped is halved until its parts can. Returns nullopt
// if the budget ends first. Requires that every sequence fits some configuration.
std::optional<WorkingStep> group_chunks(const ScatterTable& table, const Chunks& chunks,
                                        const GroupingEffort& effort, const Budget& budget);

// Returns starts over shortest paths of `path_rounds` rounds, over token-balanced and spread
// chunks, and those of some published methods, each in its best forms.
std::vector<WorkingStep> chunk_starts(const ScatterTable& table, int path_rounds,
                                      const Budget& budget);

}  // namespace stowage
