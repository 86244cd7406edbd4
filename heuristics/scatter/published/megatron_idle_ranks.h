// The widening rule of both schedulers of Megatron-Core: if ranks are free in a micro-batch, its
// smallest groups are doubled. Not installed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "heuristics/scatter/working_plan.h"

namespace stowage {

// Repeatedly widens the smallest group to the next of `configs` if its sequences fit there and
// `free` ranks suffice. Stops if no group can be widened. `configs` ascend by degree. Group g has
// the configuration configs[own[g]]. Ties go to the first group. Updates `own` and `free`.
void double_smallest(const ScatterTable& table, std::span<const int> configs,
                     std::vector<WorkingGroup>& groups, std::vector<std::size_t>& own, int& free);

}  // namespace stowage
