// A thread's own GLPK: silent, and throwing where GLPK would abort the process.
//
// GLPK's memory and hooks are per thread, so the work runs on a thread of its own and the host
// program's GLPK is not disturbed. Only glpk_*.cc include this.
//
//   on_glpk_thread([&] { result = solve(task); });   // throws what the work throws
#pragma once

#include <functional>

#include "instances/budget.h"

namespace stowage {

// Runs `work`, in which GLPK's fatal errors throw BackendError, and frees every problem object that
// it made.
void on_glpk_thread(const std::function<void()>& work);

// The code of `run`, one of GLPK's solvers with so many milliseconds as its tm_lim (INT_MAX is no
// limit). GLPK measures by the time of day. If that jumps it ends with GLP_ETMLIM although the
// budget has time left, and is then run again without a clock of its own.
int within_glpk_limit(const Budget& budget, const std::function<int(int)>& run);

// GLP_FR, GLP_LO, GLP_UP, GLP_DB or GLP_FX of these bounds.
int glpk_bound_type(double lower, double upper);

}  // namespace stowage
