// The HiGHS backend (MIT). Compiled only with WITH_HIGHS.
#pragma once

#include "solvers/milp/contract.h"

namespace stowage {

// Runs HiGHS' branch and cut, or its simplex on a model without integer variables, in one thread of
// its own. Several calls may run at once.
MilpResult run_highs(const MilpTask& task);

}  // namespace stowage
