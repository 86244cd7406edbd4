// Dual simplex on a dense tableau: what step bounds fall back on where no backend is built in.
//
// For small covering models only: minimise c x with c >= 0, x >= 0 and rows with a lower side and
// no upper one. There the slack basis is dual feasible and no first phase is needed.
#pragma once

#include "formulations/milp/model.h"
#include "instances/budget.h"
#include "solvers/lp/contract.h"

namespace stowage {

// Costs are raised by up to 1e-7 of the largest, differently for each variable, so that ties do not
// keep it from ending; prices are exact for those costs. `start` is the basis of a result for the
// same columns and fewer rows; any other costs time and is of no use. Says so in `detail` if the
// model is of another kind or the budget or the patience (20 pivots per row) ended.
LpResult run_dense_simplex(const milp::Model& model, const LpBasis& start, Budget& budget);

}  // namespace stowage
