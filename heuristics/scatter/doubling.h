// What both schedulers of Megatron-Core do with ranks that are left free in a micro-batch: the
// smallest groups are doubled. Not installed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "heuristics/scatter/draft.h"

namespace stowage {

// Widens the smallest group whose sequences fit the next of `levels`, again and again, until there
// is none or `free` ranks do not suffice. `levels` ascend by degree; group g stands at
// levels[own[g]]. Ties go to the first group.
void double_smallest(const ScatterTable& table, std::span<const int> levels,
                     std::vector<GroupDraft>& groups, std::vector<std::size_t>& own, int& free);

}  // namespace stowage
