// Calls a backend and checks its answer.
//
//   MilpRun run = run_cbc;  // or run_glpk, or a test double that lies
//   MilpResult r = run_checked(run, model, params, budget);
//
// Internal to solvers/ and its tests.
#pragma once

#include "formulations/milp/model.h"
#include "instances/budget.h"
#include "solvers/milp/contract.h"

namespace stowage {

// tidy -> scale -> run -> unscale -> round -> recheck -> clip the bound. Never throws.
MilpResult run_checked(const MilpRun& run, const milp::Model& model, const MilpParams& params,
                       Budget& budget, const MilpObserver& observer = {});

}  // namespace stowage
