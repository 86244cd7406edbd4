// Skrull's scheduling of long-context fine-tuning: sequences are local or sharded (arXiv
// 2505.19609, section 4).
//
// Published: a sequence stays on one rank, or is sharded over all ranks. Short sequences are placed
// locally on the rank with the least work. A sequence without memory there is sharded instead.
// Interpretation: in the paper a rank computes its local sequences and its shards in one
// micro-batch. Here the groups of a micro-batch share no device. So local and sharded sequences get
// separate micro-batches, each with its fixed time.
#pragma once

#include <optional>

#include "heuristics/scatter/working_plan.h"

namespace stowage {

// Uses the smallest and the largest configuration. Returns nullopt if the largest configuration
// cannot hold the longest sequence. O(K log K).
std::optional<WorkingStep> skrull(const ScatterTable& table);

}  // namespace stowage
