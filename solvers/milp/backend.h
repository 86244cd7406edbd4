// The seam between solve_milp and a backend: what a backend is given and what it must answer.
//
//   MilpRun run = run_cbc;  // or run_glpk, or a test double that lies
//   MilpResult r = run_checked(run, model, params, budget);
//
// Internal to solvers/ and its tests. A backend gets a tidied and scaled model and may trust it; it
// is itself trusted with nothing: run_checked measures every answer against the original model.
#pragma once

#include <functional>
#include <stdexcept>

#include "formulations/milp/model.h"
#include "instances/budget.h"
#include "solvers/milp/solver.h"

namespace stowage {

// A backend failed in its own code; what() is its own words.
class BackendError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One call of a backend. The model has at least one variable and one row, only finite numbers, no
// duplicate terms, no fixed variable, integral bounds on integers. `params.start` is empty or
// feasible for `model`; start and cutoff are in the units of `model`.
struct MilpTask {
  const milp::Model& model;
  const MilpParams& params;
  Budget& budget;                // nodes must be counted, limits and the interrupt honoured
  const MilpObserver& observer;  // never empty; in the units of `model`
};

// The answer is in the units of `model`. Two statuses are read in a narrower sense than in the
// public contract: `infeasible` means "nothing below the cutoff" when a cutoff was given, and
// `unbounded` means that the relaxation is unbounded. May throw anything derived from
// std::exception.
using MilpRun = std::function<MilpResult(const MilpTask&)>;

// tidy -> scale -> run -> unscale -> round -> recheck -> clip the bound. Never throws.
MilpResult run_checked(const MilpRun& run, const milp::Model& model, const MilpParams& params,
                       Budget& budget, const MilpObserver& observer = {});

}  // namespace stowage
