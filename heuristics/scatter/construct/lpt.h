// Longest processing time over given groups of unequal degrees.
#pragma once

#include <optional>
#include <span>

#include "heuristics/scatter/working_plan.h"

namespace stowage {

// Takes `positions` (ascending, so longest first) and gives each sequence to the group with room
// that then finishes first, ties to the first group. `mix` holds the number of groups per
// configuration. Large groups finish early and so receive the long sequences, which lose least
// there. Returns nullopt if a sequence finds no room, or if a group reaches `cutoff` ms. O(K
// configurations log groups).
std::optional<WorkingMicroBatch> lpt_groups(const ScatterTable& table, std::span<const int> mix,
                                            std::span<const int> positions, Ms cutoff);

}  // namespace stowage
