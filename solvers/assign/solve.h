// The assign family's part of the facade. solve.cc chooses the overload of an instance's family.
#pragma once

#include <vector>

#include "instances/assign/instance.h"
#include "solvers/solve.h"

namespace stowage {

std::vector<Method> methods_of(const AssignInstance& instance);
std::vector<StageInfo> stages_of(const AssignInstance& instance);
std::vector<ParameterInfo> parameters_of(const AssignInstance& instance);

Outcome solve_family(const AssignInstance& instance, const SolveOptions& options, Budget& budget,
                     const Progress& progress);

}  // namespace stowage
