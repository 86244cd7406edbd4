// Solves assign instances whose rows are chunks, by heuristics and closed bounds. The MILPs, the
// grouped relaxation and the row patterns model whole rows, and are not used.
#pragma once

#include <vector>

#include "instances/assign/instance.h"
#include "solvers/solve.h"

namespace stowage {

// Returns `auto`, the published construction and stowage's own method. Requires an instance with a
// ChunkRule.
std::vector<Method> chunked_methods(const AssignInstance& instance);

// Returns the stages of solve_chunked().
std::vector<StageInfo> chunked_stages();

Outcome solve_chunked(const AssignInstance& instance, const SolveOptions& options, Budget& budget,
                      const Progress& progress);

}  // namespace stowage
