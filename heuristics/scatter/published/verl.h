// The batching of verl's trainers (0.9, utils/seqlen_balancing.py and trainer/ppo): samples over
// data-parallel ranks in equal counts, and the samples of a rank over micro-batches below a token
// limit.
//
// Published: a sample of s tokens has the work 24576 s + s^2. The samples of a step are shared
// among the ranks by Karmarkar-Karp with equal counts (get_seqlen_balanced_partitions). The samples
// of each rank are shared among micro-batches by Karmarkar-Karp (rearrange_micro_batches). The
// number of micro-batches is the largest that a rank needs for its tokens, rounded up to a
// multiple. It grows by that multiple until no micro-batch of any rank exceeds the limit. The
// micro-batches of a rank are ordered by work, with the least work at both ends. Micro-batches of
// equal index run side by side.
// Interpretation: a rank is a group of one sequence-parallel size, the fastest degree of this step.
// The limit is the memory of a group. If the number of ranks does not divide the samples, counts
// differ by one (verl pads the step). If a rank has fewer samples than there are micro-batches, it
// idles in some (verl refuses the step).
#pragma once

#include <optional>

#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"

namespace stowage {

// Returns nullopt if no degree holds the longest sequence, or if the budget ends before the first
// step.
std::optional<WorkingStep> verl(const ScatterTable& table, const Budget& budget = Budget());

}  // namespace stowage
