// Lower bounds on an assign step whose rows are chunks (ChunkRule).
//
//   for (const NamedBound& bound : assign_chunk_bounds(instance)) ...   // weakest first
//
// Proofs are in docs/theory/assign.md. The bounds for whole rows do not hold here, because a cut
// sequence has several rows, some of which take a third more time.
#pragma once

#include <vector>

#include "instances/assign/instance.h"
#include "instances/budget.h"
#include "instances/proof.h"

namespace stowage {

// Returns bounds in ms, weakest first. Each is the least over the strategies that admit every
// sequence:
//   longest     the longest sequence by itself on its best scheme [CB1]
//   work        all work spread evenly at the best prices of the schemes [CB2]
//   strategies  the greater of both, strategy by strategy [CB3]
// If the budget ends before all strategies are bounded, returns only `longest` over all schemes.
// Requires such a strategy and an instance with a ChunkRule.
std::vector<NamedBound> assign_chunk_bounds(const AssignInstance& instance,
                                            const Budget& budget = Budget());

}  // namespace stowage
