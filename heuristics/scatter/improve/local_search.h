// Local search by moves and swaps: relieves the slowest group of a micro-batch until no single
// change helps.
#pragma once

#include "heuristics/scatter/working_plan.h"

namespace stowage {

// Repeatedly changes the slowest group: moves one of its sequences to another group, or swaps it
// for one of another group. Chooses the change after which the slower of the two groups is fastest.
// Stops if no change ends below the makespan, or after `rounds`. Updates batch.makespan and never
// raises it. O(rounds * K * sequences of the slowest group).
void polish(const ScatterTable& table, WorkingMicroBatch& batch, int rounds);

}  // namespace stowage
