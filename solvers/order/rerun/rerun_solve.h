// Solves graphs with operators that may run again, with a host, or with the objective time. The
// file is private to solve.cc.
#pragma once

#include <vector>

#include "solvers/solve.h"

namespace stowage {

// Returns true if the instance needs the solve with repeated runs instead of the solve of plain
// orders.
bool is_for_reruns(const OrderInstance& instance);

std::vector<Method> rerun_methods_of(const OrderInstance& instance);

Outcome solve_with_reruns(const OrderInstance& instance, const SolveOptions& options,
                          Budget& budget, const Progress& progress);

}  // namespace stowage
