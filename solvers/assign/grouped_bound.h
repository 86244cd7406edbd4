// The grouped relaxation of formulations/assign/grouped.h turned into a bound on the step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/assign/table.h"
#include "instances/budget.h"
#include "instances/proof.h"
#include "solvers/milp/solver.h"

namespace stowage {

// Strategies looked at after a budget has ended; with more a bound on all of them is given up.
inline constexpr int kMostLateStrategies = 16;

struct GroupedBoundOptions {
  MilpBackend backend = MilpBackend::cbc;
  std::int64_t nodes = 300;  // of each MILP, so that the same input gives the same bound
  int most_apart = 8;        // strategies of so many replicas are also relaxed replica by replica
};

struct GroupedBound {
  std::optional<NamedBound> bound;  // `grouped` [AB6]; nothing if nothing above `known` is proven
  std::string detail;               // what failed, in words
};

// A step is as fast as its best strategy: a strategy whose closed bound [AB5] reaches `objective`
// needs no MILP, the others get theirs, started from the best plan known of the strategy where
// `plans` has one. Requires `plans` to verify, and `objective` to be at most the least of theirs.
// Where the backend fails, and for an "infeasible" that a plan refutes, `detail` says so and the
// closed bound stands instead. `proven` is what else is known of each strategy, or empty.
GroupedBound grouped_bound(const AssignInstance& instance, const AssignTable& table,
                           const std::vector<AssignPlan>& plans, Ms objective, Ms known,
                           const std::vector<Ms>& proven, const GroupedBoundOptions& options,
                           Budget& budget);

}  // namespace stowage
