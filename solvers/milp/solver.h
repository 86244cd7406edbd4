// One interface for every MILP backend, with checks of every answer.
//
//   Budget budget({.time_limit_s = 10});
//   MilpResult r = solve_milp(MilpBackend::cbc, model, {.gap = 0.001}, budget);
//   if (has_point(r.status)) use(r.values, r.objective, r.bound);
//
// solve_milp() first tidies the model: finite numbers, summed duplicates, singleton rows folded
// into bounds, integer bounds rounded inwards, scaling. Afterwards it rounds the integers,
// recomputes the objective, measures every original row in long double, and clips the bound. A
// point that fails the recheck gives MilpStatus::error, never a plan. A backend that calls a model
// with a feasible start infeasible has failed and also gives error.
//
// Thread safety: any number of threads may solve at once, each model with its own arguments. They
// may share a Budget. Backends get threads of their own. CBC sets OpenBLAS to one thread, if
// OpenBLAS is the process's BLAS.
#pragma once

#include <string_view>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/budget.h"
#include "solvers/milp/backends.h"
#include "solvers/milp/contract.h"

namespace stowage {

// Requires `backend` to be in built_backends(). Also solves LPs (no integer variable).
MilpResult solve_milp(MilpBackend backend, const milp::Model& model, const MilpParams& params,
                      Budget& budget, const MilpObserver& observer = {});

}  // namespace stowage
