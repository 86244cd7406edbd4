// Least power-of-two degree per sequence, micro-batches formed by workload: dynamic context
// parallelism of Megatron Core (class BalancedCPScheduler, 2025).
//
// Published: a sequence needs the least power of two of ranks on which its tokens per rank stay
// within a limit. Its work is length^2 / ranks. A micro-batch takes sequences longest first. Each
// goes to free ranks, or else to the least loaded group of exactly its degree. The micro-batch ends
// if no sequence can be placed, or if the ranks are balanced within 5 % once smaller degrees have
// begun. Then it gives back the sequences that unbalance it. While ranks are idle, groups are
// doubled, smallest first.
// Interpretation: the limit is C, the tokens that a device holds. The published group runs its
// sequences one by one and needs memory for one. Here a group needs memory for all its sequences,
// so it takes only sequences that fit. The published buckets of equal work only decide which degree
// comes first. Here the largest degree comes first.
#pragma once

#include <optional>

#include "heuristics/scatter/working_plan.h"

namespace stowage {

// Degrees that are not powers of two are left out. Returns nullopt if the other degrees cannot hold
// the longest sequence. O(K groups).
std::optional<WorkingStep> megatron_hybrid(const ScatterTable& table);

}  // namespace stowage
