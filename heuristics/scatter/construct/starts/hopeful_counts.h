// Numbers of micro-batches that are worth a start.
#pragma once

#include <vector>

#include "instances/scatter/table/planning_table.h"

namespace stowage {

// Returns micro-batch counts near the best one for a pipeline, estimated with equal makespans. More
// micro-batches shorten the longest makespan and add overheads.
std::vector<int> hopeful_counts(const ScatterTable& table);

}  // namespace stowage
