// Samples over data-parallel ranks in equal counts, those of a rank over micro-batches below a
// token limit: what the trainers of verl do (0.9, utils/seqlen_balancing.py and trainer/ppo).
//
// Published: a sample of s tokens works 24576 s + s^2. The samples of a step are shared among the
// ranks by Karmarkar-Karp with equal counts (get_seqlen_balanced_partitions), then those of each
// rank among micro-batches by Karmarkar-Karp (rearrange_micro_batches): as many as the rank of most
// needs for its tokens, rounded up to a multiple; more, by that multiple, until none of them
// exceeds the limit on any rank. The micro-batches of a rank are ordered by work, the least at both
// ends, and those of one place run side by side. Interpretation: a rank is a group of one
// sequence-parallel size, the fastest degree of this step; the limit is what a group holds. Where
// ranks do not divide the samples, counts differ by one (verl pads the step). Where a rank has
// fewer samples than others need micro-batches, it idles in some (verl refuses the step).
#pragma once

#include <optional>

#include "heuristics/scatter/draft.h"
#include "instances/budget.h"

namespace stowage {

// Nothing if no degree holds the longest sequence, or if the budget ends before the first step.
std::optional<StepDraft> verl(const ScatterTable& table, const Budget& budget = Budget());

}  // namespace stowage
