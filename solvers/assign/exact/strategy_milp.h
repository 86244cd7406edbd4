// The exact method for assign instances of many sequences: one MILP per strategy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/assign/planning_table.h"
#include "instances/budget.h"
#include "solvers/incumbent.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct AssignExactOptions {
  MilpBackend backend = MilpBackend::cbc;
  double gap = 0;
  std::uint64_t seed = 0;
  std::size_t most_variables = 20000;  // strategies with larger MILPs are left undecided
};

// Solves the MILP of every strategy whose closed bound is below the incumbent, starting from the
// best of `plans` of that strategy. Submits better plans, and raises the bound to the least proven
// bound of all strategies. Returns the reason why the run ended. Requires at least one sequence, a
// strategy that admits all sequences, and plans that verify.
StoppedBy solve_assign_milps(const AssignInstance& instance, const AssignTable& table,
                             const std::vector<AssignPlan>& plans,
                             const AssignExactOptions& options,
                             Incumbent<AssignInstance>& incumbent, Budget& budget);

}  // namespace stowage
