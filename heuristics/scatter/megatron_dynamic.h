// Packed micro-batches of which no rank is idle: the packing scheduler of Megatron Core with
// dynamic context parallelism (`default_dynamic_cp`, 2026).
//
// Published: a sequence needs the least power of two of ranks on which its tokens per rank stay
// within a limit; its work is length^2 / ranks and nothing else. Longest first, each sequence goes
// to the group, or to a new one on free ranks, whose work is least with it, among those with room
// whose work stays below 1.05 times the longest sequence times the limit; what finds none waits for
// the next micro-batch. Then the smallest groups are doubled until no rank is idle.
// Interpretation: the limit is C, the tokens a device holds. Where ranks stay idle because the
// cluster has no greater degree, the micro-batch keeps them: only clusters that are no power of two
// have such.
#pragma once

#include <optional>

#include "heuristics/scatter/draft.h"

namespace stowage {

// Degrees that are no powers of two are left out. Nothing if the others cannot hold the longest
// sequence. O(micro-batches K groups).
std::optional<StepDraft> megatron_dynamic(const ScatterTable& table);

}  // namespace stowage
