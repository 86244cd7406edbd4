// From counts per length class to ids.
#pragma once

#include <vector>

#include "formulations/scatter/milp.h"
#include "instances/scatter/compose.h"

namespace stowage {

// Deals the ids of each class out to the groups in order; micro-batches come by slot. Requires the
// counts of each class to sum to at most the number of its ids.
std::vector<MicroBatchChoice> deal(const std::vector<ClassGroup>& groups,
                                   const std::vector<std::vector<std::int64_t>>& ids_of_class);

}  // namespace stowage
