// Moves and swaps of sequences that would end the step of a scatter plan earlier.
#pragma once

#include <cstdint>

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "solvers/explain/explanation.h"

namespace stowage {

// The number of moves after which a search for moves ends, and the share of the objective below
// which a gain is a rounding error.
inline constexpr std::int64_t kMaxMoves = 20'000'000;
inline constexpr double kWorthTelling = 1e-9;

// Tries each sequence of a slowest group in every other group, alone or in exchange for one of its
// sequences, and each recomputation mode. Returns the best of all.
Moves scatter_moves(const ScatterInstance& instance, const ScatterPlan& plan);

}  // namespace stowage
