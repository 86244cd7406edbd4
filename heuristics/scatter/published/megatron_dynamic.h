// Packed micro-batches without idle ranks: the packing scheduler of Megatron Core with dynamic
// context parallelism (`default_dynamic_cp`, 2026).
//
// Published: a sequence needs the least power of two of ranks on which its tokens per rank stay
// within a limit. Its work is length^2 / ranks. Longest first, each sequence goes to a group with
// room or to a new group on free ranks, whichever then has the least work. The work of a group
// stays below 1.05 times the longest sequence times the limit. A sequence without such a group
// waits for the next micro-batch. Then the smallest groups are doubled until no rank is idle.
// Interpretation: the limit is C, the tokens that a device holds. If ranks stay idle because the
// cluster has no greater degree, the micro-batch keeps them. This happens on clusters whose size is
// not a power of two.
#pragma once

#include <optional>

#include "heuristics/scatter/working_plan.h"

namespace stowage {

// Degrees that are not powers of two are left out. Returns nullopt if the other degrees cannot hold
// the longest sequence. O(micro-batches K groups).
std::optional<WorkingStep> megatron_dynamic(const ScatterTable& table);

}  // namespace stowage
