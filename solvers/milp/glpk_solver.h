// The GLPK backend (GPL-3+). Compiled only with WITH_GLPK.
#pragma once

#include "solvers/milp/contract.h"

namespace stowage {

// Runs branch and cut with gmi, mir, clique and cover cuts and pseudo-cost branching, without
// presolver, on a separate thread: GLPK's memory and hooks belong to a thread, so the host's GLPK
// is not disturbed. An interrupt takes effect after the running linear programme.
MilpResult run_glpk(const MilpTask& task);

}  // namespace stowage
