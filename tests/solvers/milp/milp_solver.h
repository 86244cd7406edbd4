// Runs of the backend of a test.
#pragma once

#include <gtest/gtest.h>

#include "solvers/milp/solver.h"

namespace stowage::milp_solver_test {

class MilpSolver : public testing::TestWithParam<MilpBackend> {
 protected:
  static MilpResult solve(const milp::Model& model, const MilpParams& params = {},
                          const Budget::Limits& limits = {}, const MilpObserver& observer = {}) {
    Budget budget(limits);
    return solve_milp(GetParam(), model, params, budget, observer);
  }
};

}  // namespace stowage::milp_solver_test
