// Dual simplex on a dense tableau, used for step bounds if no backend is built.
//
// It solves small covering models only: minimise c x with c >= 0, x >= 0, and rows with a lower
// side and no upper side. Then the slack basis is dual feasible, and no first phase is needed.
#pragma once

#include "formulations/milp/model.h"
#include "instances/budget.h"
#include "solvers/lp/contract.h"

namespace stowage {

// Raises costs by up to 1e-7 of the largest cost, differently for each variable, so that ties cause
// no cycling. Prices are exact for the raised costs. `start` is the basis of a result for the same
// columns and fewer rows. Any other basis costs time without benefit. Sets `detail` if the model is
// of another kind, or if the budget or the limit of 20 pivots per row ended the run.
LpResult run_dense_simplex(const milp::Model& model, const LpBasis& start, Budget& budget);

}  // namespace stowage
