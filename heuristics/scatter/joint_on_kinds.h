// A whole step on nodes that differ: chunks by tokens, by device-time and by shortest paths, each
// grouped on the kinds there are, then annealing of the best.
//
//   auto step = joint_on_kinds(table, 420, seed, budget);
#pragma once

#include <cstdint>
#include <optional>

#include "heuristics/scatter/draft.h"
#include "instances/budget.h"

namespace stowage {

// Chunks of even tokens, in the fewest number that groups, each in groups of its own. Nothing if a
// sequence fits nowhere.
std::optional<StepDraft> first_fit_on_kinds(const ScatterTable& table, const Budget& budget);

// The best step found with so many moves of annealing per sequence. Requires a table of several
// kinds. Deterministic in `seed` and the moves unless the budget ends first.
std::optional<StepDraft> joint_on_kinds(const ScatterTable& table, double moves, std::uint64_t seed,
                                        const Budget& budget);

}  // namespace stowage
