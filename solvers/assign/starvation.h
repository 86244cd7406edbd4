// Row constraints that need more sequences than there are. Not installed: solve() asks it first.
//
//   if (starves(table)) return infeasible("the row constraints need more sequences");
#pragma once

#include "instances/assign/table.h"

namespace stowage {

// Whether no strategy has a plan for want of sequences: where no replica may be empty, each needs
// one per row at least, and of those that its scheme holds. Proves infeasibility when true, and
// nothing when false. O(g log g + g log K) per strategy of g schemes, K sequences.
bool starves(const AssignTable& table);

}  // namespace stowage
