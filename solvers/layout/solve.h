// The layout family's part of the facade. solve.cc chooses the overload of an instance's family.
#pragma once

#include <vector>

#include "solvers/solve.h"

namespace stowage {

std::vector<Method> methods_of(const LayoutInstance& instance);
std::vector<StageInfo> stages_of(const LayoutInstance& instance);
std::vector<ParameterInfo> parameters_of(const LayoutInstance& instance);

Outcome solve_family(const LayoutInstance& instance, const SolveOptions& options, Budget& budget,
                     const Progress& progress);

}  // namespace stowage
