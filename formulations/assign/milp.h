// The assign MILP of one strategy, exact: which sequences go into which row of which replica.
//
//   const AssignMilp milp = build_assign_milp(table, strategy, upper);
//   const MilpResult result = solve_milp(backend, milp.model, {}, budget);
//   compose_assign(instance, strategy, decode(milp, table, result.values));
//
// For small steps and for tests: it names rows and replicas, so that steps of more than a dozen
// sequences have too many equal solutions. Rows A1 to A10 are in formulations/README.md.
#pragma once

#include <cstddef>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/assign/compose.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/assign/table.h"

namespace stowage {

struct AssignMilp {
  // A row that may be used.
  struct Slot {
    int replica = 0;
    int used = -1;             // y
    std::vector<int> holding;  // x of each kind, -1 where it does not fit
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

// How many variables the model would have, before it is built.
std::size_t assign_milp_variables(const AssignTable& table, int strategy, Ms upper);

// Plans slower than `upper` may be missing from the model; infinity keeps all. Requires a non-empty
// step and a usable strategy.
AssignMilp build_assign_milp(const AssignTable& table, int strategy, Ms upper);

// The rows of a solution; sequences of one kind are dealt in the order of their ids.
std::vector<ReplicaChoice> decode(const AssignMilp& milp, const AssignTable& table,
                                  const std::vector<double>& values);

// The point of the model that a verified plan of its strategy is, for warm starts. Empty if the
// plan is slower than the model's `upper` and does not fit it.
std::vector<double> encode(const AssignMilp& milp, const AssignInstance& instance,
                           const AssignTable& table, const AssignPlan& plan);

}  // namespace stowage
