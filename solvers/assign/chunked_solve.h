// The facade's work for an assign instance whose rows are chunks: heuristics and closed bounds. The
// MILPs, the grouped relaxation and the row patterns state whole rows, and are not used.
#pragma once

#include <vector>

#include "instances/assign/instance.h"
#include "solvers/solve.h"

namespace stowage {

// `auto`, the published construction, ours. Requires an instance that asks for chunks.
std::vector<Method> chunked_methods(const AssignInstance& instance);

// The stages of solve_chunked().
std::vector<StageInfo> chunked_stages();

Outcome solve_chunked(const AssignInstance& instance, const SolveOptions& options, Budget& budget,
                      const Progress& progress);

}  // namespace stowage
