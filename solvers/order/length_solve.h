// Solves of graphs whose sizes grow with a length: orders for some lengths, and a row of the plan
// for every range of lengths in which one of them is the best.
#pragma once

#include "solvers/order/length_context.h"
#include "solvers/solve.h"

namespace stowage {

// Requires an instance with a range of lengths.
Outcome solve_lengths(const OrderInstance& instance, const SolveOptions& options, Budget& budget,
                      const Progress& progress, const FixedSolve& fixed);

}  // namespace stowage
