// Least power-of-two degree per sequence, micro-batches formed by workload: the dynamic context
// parallelism of Megatron Core (class BalancedCPScheduler, 2025).
//
// Published: a sequence needs the least power of two of ranks on which its tokens per rank stay
// within a limit; its work is length^2 / ranks. A micro-batch takes sequences longest first, each
// on free ranks or else on the least loaded group of just its degree; it ends when nothing can be
// placed, or when ranks are within 5 % of each other once smaller degrees have begun. Then it gives
// back what unbalances it, and groups are doubled, smallest first, while ranks stand idle.
// Interpretation: the limit is C, the tokens a device holds; there a group runs its sequences one
// by one and needs memory for one, here for all of them, so that a group takes only what fits. The
// published buckets of equal work only decide which degree comes first; here the largest does.
#pragma once

#include <optional>

#include "heuristics/scatter/draft.h"

namespace stowage {

// Degrees that are no powers of two are left out. Nothing if the others cannot hold the longest
// sequence. O(K groups).
std::optional<StepDraft> megatron_hybrid(const ScatterTable& table);

}  // namespace stowage
