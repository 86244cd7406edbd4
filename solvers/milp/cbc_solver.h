// The COIN-OR CBC backend (EPL-2.0). Compiled only with WITH_CBC.
#pragma once

#include "solvers/milp/contract.h"

namespace stowage {

// Runs CbcModel over OsiClp with the default strategy's cuts and the feasibility pump, on one
// thread. Several calls may run at once.
MilpResult run_cbc(const MilpTask& task);

}  // namespace stowage
