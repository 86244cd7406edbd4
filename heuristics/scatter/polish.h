// Move and swap: relieves the slowest group of a micro-batch until no single step helps.
#pragma once

#include "heuristics/scatter/draft.h"

namespace stowage {

// Repeatedly takes the slowest group and makes the move of one of its sequences to another group,
// or the exchange with a sequence of another group, after which the slower of the two is fastest;
// stops when that would not end below the makespan, or after `rounds`. Updates batch.makespan and
// never raises it. O(rounds * K * sequences of the slowest group).
void polish(const ScatterTable& table, MicroBatchDraft& batch, int rounds);

}  // namespace stowage
