// Local or sharded: Skrull's scheduling of long-context fine-tuning (arXiv 2505.19609, section 4).
//
// Published: a sequence stays on one rank, or is sharded over all; short ones are placed locally on
// the rank with the least work; whoever finds no memory is rolled back to sharding.
// Interpretation: there a rank computes its local sequences and its shard of the others in one
// micro-batch. Here the groups of a micro-batch share no device, so local and sharded sequences get
// micro-batches of their own, and the fixed time of each.
#pragma once

#include <optional>

#include "heuristics/scatter/draft.h"

namespace stowage {

// Uses the smallest and the largest level. Nothing if the largest cannot hold the longest sequence.
// O(K log K).
std::optional<StepDraft> skrull(const ScatterTable& table);

}  // namespace stowage
