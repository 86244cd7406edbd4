// Planning rows of chunks (ChunkRule): sequences that are cut bring rows of their own to a replica,
// the others are packed into rows of a chunk's size.
//
//   if (auto plan = assign_chunked(instance, true, budget)) ...
//
// `chunk-flow` is the published construction (ChunkFlow, arXiv 2503.02356, section 4.1), dealt to
// the replicas by LPT. `fast` is ours: every sequence to the replica that ends first with it, moves
// and swaps from the slowest replica under even rows, then rows whose number and packing make the
// replica fastest.
#pragma once

#include <optional>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/budget.h"

namespace stowage {

// `fast`. Nothing if no strategy can be planned, or if the budget ends before there is a plan and
// none is `needed`. Requires an instance that asks for chunks.
std::optional<AssignPlan> assign_chunked(const AssignInstance& instance, bool needed,
                                         const Budget& budget);

}  // namespace stowage
