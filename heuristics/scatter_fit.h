// Groups opened on demand under a time target: the scatter form of MULTIFIT (Coffman, Garey and
// Johnson 1978), which packs bins for a guessed makespan and bisects the guess.
#pragma once

#include <optional>
#include <span>

#include "heuristics/scatter_draft.h"

namespace stowage {

// Packs `positions` (ascending) so that no group exceeds a target: each sequence tries its degrees
// from the least device-time to the most, at each the first open group with room, or a new one
// while devices last. `rounds` bisections look for the least target that works, between `lower` and
// the makespan of the best packing found. Nothing if no target up to `upper` works. One packing
// takes O(lengths levels log groups + groups) as a rule.
std::optional<MicroBatchDraft> multifit(const ScatterTable& table, std::span<const int> positions,
                                        Ms lower, Ms upper, int rounds);

}  // namespace stowage
