// The GLPK backend for linear programmes (GPL-3+). Compiled only with WITH_GLPK.
#pragma once

#include "formulations/milp/model.h"
#include "instances/budget.h"
#include "solvers/lp/contract.h"

namespace stowage {

// Dual simplex, then primal, on a thread of its own, see milp/glpk_session.h. Throws BackendError.
LpResult run_glpk_simplex(const milp::Model& model, const LpBasis& start, Budget& budget);

}  // namespace stowage
