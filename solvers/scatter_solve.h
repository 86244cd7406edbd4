// The facade's work for one scatter instance.
#pragma once

#include <vector>

#include "solvers/solve.h"

namespace stowage {

std::vector<Method> scatter_methods(const ScatterInstance& instance);

Outcome solve_scatter(const ScatterInstance& instance, const SolveOptions& options, Budget& budget,
                      const Progress& progress);

}  // namespace stowage
