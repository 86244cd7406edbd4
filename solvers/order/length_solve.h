// Solves of graphs whose sizes grow with a length: orders for some lengths, and a row of the plan
// for every range of lengths in which one of them is the best.
#pragma once

#include <functional>

#include "solvers/solve.h"

namespace stowage {

// The solve of a graph of fixed sizes.
using FixedSolve =
    std::function<Outcome(const OrderInstance&, const SolveOptions&, Budget&, const Progress&)>;

// Requires an instance with a range of lengths.
Outcome solve_lengths(const OrderInstance& instance, const SolveOptions& options, Budget& budget,
                      const Progress& progress, const FixedSolve& fixed);

}  // namespace stowage
