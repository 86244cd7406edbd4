// The GLPK backend (GPL-3+). Compiled only with WITH_GLPK.
#pragma once

#include "solvers/milp/contract.h"

namespace stowage {

// Branch and cut with gmi, mir, clique and cover cuts and pseudo-cost branching, no presolver, on a
// thread of its own: GLPK's memory and hooks are per thread, so the host's GLPK is not disturbed.
// An interrupt waits for the end of the running linear programme.
MilpResult run_glpk(const MilpTask& task);

}  // namespace stowage
