// The COIN-OR Clp backend for linear programmes (EPL-2.0). Compiled only with WITH_CBC.
#pragma once

#include "formulations/milp/model.h"
#include "instances/budget.h"
#include "solvers/lp/contract.h"

namespace stowage {

// Runs the dual simplex from `start`, and then the primal simplex if columns are new. Throws
// BackendError.
LpResult run_clp(const milp::Model& model, const LpBasis& start, Budget& budget);

}  // namespace stowage
