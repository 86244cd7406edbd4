// Infeasibility by row constraints that need more sequences than the instance has. Not installed.
//
//   if (starves(table)) return infeasible("the row constraints need more sequences");
#pragma once

#include "instances/assign/planning_table.h"

namespace stowage {

// Returns true if every strategy lacks sequences: if no replica may be empty, each replica needs at
// least one admitted sequence per row. The result true proves infeasibility; false proves nothing.
// O(g log g + g log K) per strategy of g schemes and K sequences.
bool starves(const AssignTable& table);

}  // namespace stowage
