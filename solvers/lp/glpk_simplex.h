// The GLPK backend for linear programmes (GPL-3+). Compiled only with WITH_GLPK.
#pragma once

#include "formulations/milp/model.h"
#include "instances/budget.h"
#include "solvers/lp/contract.h"

namespace stowage {

// Runs the dual simplex and then the primal simplex, on a separate thread (milp/glpk_session.h).
// Throws BackendError.
LpResult run_glpk_simplex(const milp::Model& model, const LpBasis& start, Budget& budget);

}  // namespace stowage
