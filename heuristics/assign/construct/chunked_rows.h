// Plans rows of chunks (ChunkRule): sequences that are cut have their own rows, and the other
// sequences are packed into rows of a chunk's size.
//
//   if (auto plan = assign_chunked(instance, params.chunks, true, budget)) ...
//
// `chunk-flow` is the published construction (ChunkFlow, arXiv 2503.02356, section 4.1), with LPT
// over replicas. `fast` is stowage's own method. It assigns every sequence to the replica that then
// ends first. Then it moves and swaps sequences of the slowest replica, assuming equally long rows.
// Finally it chooses the number of rows and their packing that make each replica fastest.
#pragma once

#include <optional>

#include "heuristics/assign/params.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/budget.h"

namespace stowage {

// Returns the plan of `fast`. Returns nullopt if no strategy can be planned, or if the budget ends
// before the first plan and no plan is `needed`. Requires an instance with a ChunkRule.
std::optional<AssignPlan> assign_chunked(const AssignInstance& instance,
                                         const AssignChunkParams& params, bool needed,
                                         const Budget& budget);

}  // namespace stowage
