// Starts that are packed for given makespans.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"

namespace stowage {

// Returns starts packed for the makespans of other starts: of the best start of each micro-batch
// count, and of the same start without its shortest micro-batch. Returns the `most` best packed
// starts, which get more proposals, by the annealing `moves` of a sequence.
std::vector<WorkingStep> packed_starts(const ScatterTable& table,
                                       const std::vector<WorkingStep>& field, double moves,
                                       int most, std::uint64_t seed, const Budget& budget);

}  // namespace stowage
