// The solve of a graph with operators that may run again, or whose time is to be least. Not used
// but by solve.cc.
#pragma once

#include <vector>

#include "solvers/solve.h"

namespace stowage {

// Whether these bounds and searches, and not those of orders alone, are for the instance.
bool is_for_reruns(const OrderInstance& instance);

std::vector<Method> rerun_methods_of(const OrderInstance& instance);

Outcome solve_with_reruns(const OrderInstance& instance, const SolveOptions& options,
                          Budget& budget, const Progress& progress);

}  // namespace stowage
