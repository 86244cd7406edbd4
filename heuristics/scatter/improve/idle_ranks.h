// Work for the ranks that a packing leaves idle, where a rule forbids idle ranks.
#pragma once

#include <cstddef>

#include "heuristics/scatter/working_plan.h"

namespace stowage {

// Returns the ranks of the micro-batch without a sequence.
int idle_ranks(const ScatterTable& table, const WorkingMicroBatch& batch);

// Gives work to the idle ranks of micro-batch `index` by wider groups, groups of a single sequence,
// and sequences of other micro-batches. Returns false if ranks stay idle.
bool fill_idle_ranks(const ScatterTable& table, WorkingStep& step, std::size_t index);

}  // namespace stowage
