// Linear programmes with their dual prices, through the same backends as MILPs.
//
//   LpResult first = solve_lp(MilpBackend::cbc, model, {}, budget);
//   model.add_row(...);
//   LpResult next = solve_lp(MilpBackend::cbc, model, first.basis, budget);
//
// Nothing here is a proof: prices are as good as the backend's arithmetic. Whoever wants a bound
// makes a certificate of them (formulations/scatter/step_prices.h).
#pragma once

#include <optional>

#include "formulations/milp/model.h"
#include "instances/budget.h"
#include "solvers/lp/contract.h"
#include "solvers/milp/solver.h"

namespace stowage {

// Requires `backend` to be in built_backends(), a model without integer variables, and at least one
// variable and row. Only costs are scaled, and only extreme ones: the caller keeps coefficients
// near 1, and beyond 1e15 they are refused. Never throws. Without a backend, the dense simplex of
// dense_simplex.h, which takes covering models only, and a start of the same columns and fewer
// rows.
LpResult solve_lp(std::optional<MilpBackend> backend, const milp::Model& model,
                  const LpBasis& start, Budget& budget);

}  // namespace stowage
