// Assigns sequence ids to groups that are given as counts per length class.
#pragma once

#include <vector>

#include "formulations/scatter/milp.h"
#include "instances/scatter/plan_builder.h"

namespace stowage {

// Deals the ids of each class to the groups in order. Groups of one slot form a micro-batch.
// Requires that the counts of each class sum to at most the number of its ids.
std::vector<MicroBatchChoice> deal(const std::vector<ClassGroup>& groups,
                                   const std::vector<std::vector<std::int64_t>>& ids_of_class);

}  // namespace stowage
