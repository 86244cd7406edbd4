// Multi-start for a whole step on nodes that differ: chunks by tokens, by device-time and by
// shortest paths, grouped on the device kinds, then annealing of the best starts.
//
//   auto step = heterogeneous_multistart(table, 420, seed, budget);
#pragma once

#include <cstdint>
#include <optional>

#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"

namespace stowage {

// Returns chunks of balanced tokens, in the fewest micro-batches by memory, each grouped on its
// own. Returns nullopt if a sequence fits no group or the budget ends first.
std::optional<WorkingStep> first_fit_on_kinds(const ScatterTable& table, const Budget& budget);

// Returns the best step found with `moves` annealing moves per sequence. Returns nullopt if no
// start was found. Requires a table of several device kinds. Deterministic in `seed` and the moves
// unless the budget ends first.
std::optional<WorkingStep> heterogeneous_multistart(const ScatterTable& table, double moves,
                                                    std::uint64_t seed, const Budget& budget);

}  // namespace stowage
