// Bounds the step by the grouped relaxation of formulations/assign/grouped.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/assign/planning_table.h"
#include "instances/budget.h"
#include "instances/proof.h"
#include "solvers/milp/solver.h"

namespace stowage {

// Largest number of strategies bounded after a budget has ended. With more strategies no bound on
// all of them is returned.
inline constexpr int kMaxLateStrategies = 16;

struct GroupedBoundOptions {
  MilpBackend backend = MilpBackend::cbc;
  std::int64_t nodes = 300;  // node limit of each MILP, so that the same input gives the same bound
  // strategies with at most this many replicas are also relaxed replica by replica
  int most_apart = 8;
};

struct GroupedBound {
  std::optional<NamedBound> bound;  // `grouped` [AB6]; nullopt if no bound above `known` is proven
  std::string detail;               // description of a failure; empty if none occurred
};

// Returns a bound on the step, which is the least bound of all strategies. A strategy whose closed
// bound [AB5] reaches `objective` needs no MILP. The MILP of each other strategy starts from the
// strategy's plan in `plans`, if present. Requires plans that verify, and an `objective` of at most
// the least of theirs. If the backend fails, or claims an infeasibility that a plan refutes,
// `detail` describes it and the closed bound is used. `proven` holds further known bounds by
// strategy, or is empty.
GroupedBound grouped_bound(const AssignInstance& instance, const AssignTable& table,
                           const std::vector<AssignPlan>& plans, Ms objective, Ms known,
                           const std::vector<Ms>& proven, const GroupedBoundOptions& options,
                           Budget& budget);

}  // namespace stowage
