// The simplex of HiGHS (MIT). Compiled only with WITH_HIGHS.
#pragma once

#include "formulations/milp/model.h"
#include "instances/budget.h"
#include "solvers/lp/contract.h"

namespace stowage {

// Runs the dual simplex, or the primal simplex from the basis of fewer columns and as many rows, in
// one thread of its own. Throws BackendError.
LpResult run_highs_simplex(const milp::Model& model, const LpBasis& start, Budget& budget);

}  // namespace stowage
