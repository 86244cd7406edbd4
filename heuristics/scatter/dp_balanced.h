// Packs of one degree in the order of the data: the packing scheduler `dp_balanced` of Megatron
// Core (class DpBalancedScheduler, 2026).
//
// Published: packs hold at most the token limit of a rank times the context-parallel size, and at
// most a number of sequences. A sequence goes to the last pack, or opens the next one. Then the
// number of packs is made a multiple of the data-parallel size, with interleaved pipelines of that
// times the micro-batches of a group: the last pack of more than one sequence gives its last one to
// a new pack, as often as needed. So many consecutive packs run side by side. Nothing is balanced
// by work.
// Interpretation: the limit is C, the tokens a device holds; the context-parallel size, one for a
// whole run there, is the degree that is fastest for this step.
#pragma once

#include <optional>

#include "heuristics/scatter/draft.h"
#include "instances/budget.h"

namespace stowage {

// Nothing if no degree holds the longest sequence. O(K log K) for each degree.
std::optional<StepDraft> dp_balanced(const ScatterTable& table, const Budget& budget = Budget());

}  // namespace stowage
