// Solves graphs whose sizes grow with a length. The plan has a row for each range of lengths in
// which one of the found orders is the best.
#pragma once

#include "solvers/order/length/length_context.h"
#include "solvers/solve.h"

namespace stowage {

// Returns the outcome of the solve. Requires an instance with a range of lengths.
Outcome solve_lengths(const OrderInstance& instance, const SolveOptions& options, Budget& budget,
                      const Progress& progress, const FixedSolve& fixed);

}  // namespace stowage
