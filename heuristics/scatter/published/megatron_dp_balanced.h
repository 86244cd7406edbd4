// Packs of one degree in data order: the packing scheduler `dp_balanced` of Megatron Core (class
// DpBalancedScheduler, 2026).
//
// Published: a pack holds at most the token limit of a rank times the context-parallel size, and at
// most a given number of sequences. Each sequence goes to the last pack, or opens the next pack.
// Then the number of packs is rounded up to a multiple of the data-parallel size. With interleaved
// pipelines it is a multiple of that size times the micro-batches of a group. To round up, the last
// pack of several sequences gives its last sequence to a new pack. The packs of one micro-batch are
// consecutive and run side by side. Packs are not balanced by work.
// Interpretation: the limit is C, the tokens that a device holds. The context-parallel size is
// fixed for a run there. Here it is the fastest degree of this step.
#pragma once

#include <optional>

#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"

namespace stowage {

// Returns nullopt if no degree holds the longest sequence. O(K log K) for each degree.
std::optional<WorkingStep> dp_balanced(const ScatterTable& table, const Budget& budget = Budget());

}  // namespace stowage
