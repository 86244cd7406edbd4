// The exact assign MILP of one strategy: which sequences are in which row of which replica.
//
//   const AssignMilp milp = build_assign_milp(table, strategy, upper);
//   const MilpResult result = solve_milp(backend, milp.model, {}, budget);
//   compose_assign(instance, strategy, decode(milp, table, result.values));
//
// It serves small steps and tests. It names rows and replicas, so steps of more than a dozen
// sequences have too many equivalent solutions. Rows A1 to A10 are in docs/theory/assign.md.
#pragma once

#include <cstddef>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/assign/plan_builder.h"
#include "instances/assign/planning_table.h"

namespace stowage {

struct AssignMilp {
  // A possible row.
  struct Slot {
    int replica = 0;
    int used = -1;             // y
    std::vector<int> holding;  // x of each kind, -1 if the kind does not fit
  };
  milp::Model model;
  int makespan = -1;          // Z
  int equal = -1;             // w, or -1 without equal_rows
  std::vector<int> scheme;    // of each replica
  std::vector<int> longest;   // M of each replica
  std::vector<int> active;    // u of each replica, or -1 without row constraints
  std::vector<int> multiple;  // m of each replica, or -1 without rows_multiple_of
  std::vector<Slot> slots;    // replica by replica
};

// Returns the number of variables of the model without building it.
std::size_t assign_milp_variables(const AssignTable& table, int strategy, Ms upper);

// Builds the model. Plans slower than `upper` may be missing from it. Requires a non-empty step and
// a usable strategy.
AssignMilp build_assign_milp(const AssignTable& table, int strategy, Ms upper);

// Returns the rows of a solution. Sequences of one kind are dealt in the order of their ids.
std::vector<ReplicaChoice> decode(const AssignMilp& milp, const AssignTable& table,
                                  const std::vector<double>& values);

// Returns the solution of the model that corresponds to a verified plan of its strategy, for warm
// starts. Returns an empty list if the plan is slower than the model's `upper` and does not fit the
// model.
std::vector<double> encode(const AssignMilp& milp, const AssignInstance& instance,
                           const AssignTable& table, const AssignPlan& plan);

}  // namespace stowage
