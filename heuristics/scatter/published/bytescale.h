// ByteScale's hybrid data parallelism: a sequence gets as many ranks as its tokens fill (arXiv
// 2502.21231, sections 4 and 5).
//
// Published: a sequence longer than a rank's capacity is spread over ceil(length / capacity) ranks.
// Shorter sequences are packed whole onto single ranks. Sequences of similar work share a time
// step, so that ranks finish together.
// Interpretation: if that number of ranks is not an allowed degree, the next larger degree is
// taken. Work is this library's cost model, and a time step is a micro-batch. Ranks that idle at
// the end of a time step are not refilled from later time steps.
#pragma once

#include <optional>

#include "heuristics/scatter/working_plan.h"

namespace stowage {

// Returns nullopt if no configuration holds the longest sequence. O(K log K).
std::optional<WorkingStep> bytescale(const ScatterTable& table);

}  // namespace stowage
