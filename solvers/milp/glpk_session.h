// A GLPK environment per thread. It prints nothing, and it throws where GLPK would abort the
// process.
//
// GLPK's memory and hooks belong to a thread. So the work runs on a separate thread, and the GLPK
// of the host program is not disturbed. Only glpk_*.cc include this.
//
//   on_glpk_thread([&] { result = solve(task); });   // throws what the work throws
#pragma once

#include <functional>

#include "instances/budget.h"

namespace stowage {

// Runs `work` and frees every problem object that it made. GLPK's fatal errors throw BackendError
// inside `work`.
void on_glpk_thread(const std::function<void()>& work);

// Calls `run`, a solver of GLPK that takes its tm_lim in ms (INT_MAX: no limit), and returns its
// code. GLPK measures by the time of day. If that clock jumps, GLPK ends with GLP_ETMLIM although
// the budget has time left. Then `run` is called again without a time limit.
int within_glpk_limit(const Budget& budget, const std::function<int(int)>& run);

// Returns GLP_FR, GLP_LO, GLP_UP, GLP_DB or GLP_FX for these bounds.
int glpk_bound_type(double lower, double upper);

}  // namespace stowage
