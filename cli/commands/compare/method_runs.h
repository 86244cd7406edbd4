// Runs the methods of a comparison one after another.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/compare/method_rows.h"
#include "cli/terminal/console.h"
#include "instances/budget.h"
#include "instances/families.h"
#include "solvers/solve.h"

namespace stowage {

// Runs the methods of these names, or all without names. `limits` are those of each method;
// `baseline_limit_s` is the limit in seconds of a published planner, which solves many MILPs and
// would be cut short and look worse than it is with the limit of the other methods. An interrupt
// leaves out the methods that had not begun. Returns the rows, baselines first, the best marked.
std::vector<MethodRow> run_methods(Console& console, const Instance& instance,
                                   const std::vector<std::string>& names, SolveOptions options,
                                   const Budget::Limits& limits, double baseline_limit_s);

}  // namespace stowage
