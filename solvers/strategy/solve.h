// The facade's work for one strategy; solve.cc picks the overload of an instance's family.
#pragma once

#include <vector>

#include "solvers/solve.h"

namespace stowage {

std::vector<Method> methods_of(const StrategyInstance& instance);
inline std::vector<StageInfo> stages_of(const StrategyInstance&) { return {}; }
inline std::vector<ParameterInfo> parameters_of(const StrategyInstance&) { return {}; }

Outcome solve_family(const StrategyInstance& instance, const SolveOptions& options, Budget& budget,
                     const Progress& progress);

}  // namespace stowage
