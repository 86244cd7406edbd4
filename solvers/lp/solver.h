// Linear programmes with their dual prices, solved by the backends of MILPs.
//
//   LpResult first = solve_lp(MilpBackend::cbc, model, {}, budget);
//   model.add_row(...);
//   LpResult next = solve_lp(MilpBackend::cbc, model, first.basis, budget);
//
// No result is a proof, because prices are only as exact as the backend's arithmetic. Make a
// certificate of the prices if you need a bound (formulations/scatter/lp/step_prices.h).
#pragma once

#include <optional>

#include "formulations/milp/model.h"
#include "instances/budget.h"
#include "solvers/lp/contract.h"
#include "solvers/milp/solver.h"

namespace stowage {

// Requires `backend` to be in built_backends(), a model without integer variables, and at least one
// variable and row. Scales only extreme costs. The caller keeps coefficients near 1, and
// coefficients beyond 1e15 are refused. Never throws. Without a backend, uses the dense simplex of
// dense_simplex.h. It accepts only covering models, and a start with the same columns and fewer
// rows.
LpResult solve_lp(std::optional<MilpBackend> backend, const milp::Model& model,
                  const LpBasis& start, Budget& budget);

}  // namespace stowage
