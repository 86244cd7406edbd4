// One contract for every MILP backend, with checks of every answer of a backend.
//
//   Budget budget({.time_limit_s = 10});
//   MilpResult r = solve_milp(MilpBackend::cbc, model, {.gap = 0.001}, budget);
//   if (has_point(r.status)) use(r.values, r.objective, r.bound);
//
// solve_milp tidies the model first (finite numbers, summed duplicates, singleton rows folded into
// bounds, integer bounds rounded inwards, scaling), and afterwards rounds the integers, recomputes
// the objective, measures every original row in long double and clips the bound by logic. A point
// that fails the recheck is MilpStatus::error, never a plan. A backend that calls a model
// infeasible although a feasible start was given has failed: error as well.
//
// Thread safety: any number of threads may solve at once, each model with its own arguments; they
// may share a Budget. Backends get threads of their own. CBC sets OpenBLAS, where that is the
// process's BLAS, to one thread.
#pragma once

#include <string_view>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/budget.h"
#include "solvers/milp/backends.h"
#include "solvers/milp/contract.h"

namespace stowage {

// Requires `backend` to be in built_backends(). LPs (no integer variable) are welcome.
MilpResult solve_milp(MilpBackend backend, const milp::Model& model, const MilpParams& params,
                      Budget& budget, const MilpObserver& observer = {});

}  // namespace stowage
