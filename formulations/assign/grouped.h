// The grouped relaxation of one assign strategy. The replicas of a scheme form one group, so the
// model names no replica and has no symmetry. A lower bound on its optimum is a lower bound on the
// strategy's step.
//
//   const AssignGrouped grouped =
//       build_assign_grouped(table, strategy, {.upper = plan.objective_ms});
//   const MilpParams params{.start = encode(grouped, instance, table, plan)};
//   const MilpResult r = solve_milp(backend, grouped.model, params, budget);
//   r.bound  // ms; a solver's "infeasible" is a failure of the solver
//
// Replicas may be empty. Every plan of the strategy that is at most `upper` is a solution of the
// model, and encode() returns it. Rows G1 to G12 and the proofs are in docs/theory/assign.md.
#pragma once

#include <vector>

#include "formulations/milp/model.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/assign/planning_table.h"

namespace stowage {

struct AssignGroupedOptions {
  int whole = 60;  // longest sequences assigned whole to one group; the others may be split
  Ms upper = milp::kInfinity;  // objective of a known plan; slower plans are cut off
  bool integral = true;        // false: the LP relaxation
  // Every replica is its own group. The model is stronger, and nearly exact for a few replicas, but
  // symmetric.
  bool apart = false;
};

struct AssignGrouped {
  // The variables of one group.
  struct Group {
    int used = -1;             // e_g
    int rows = -1;             // V_g
    int longest = -1;          // U_g
    int multiple = -1;         // W_g, or -1 without rows_multiple_of
    std::vector<int> share;    // x_kg, -1 if the kind does not fit
    std::vector<int> touched;  // y_kg: 1 if a whole kind is in this group; -1 if not modelled
    std::vector<int> count;    // Y_gv for v = class_rows[0], ...; empty for pp = 1
    std::vector<int> work;     // F_gv, beside `count`
  };
  milp::Model model;
  int strategy = 0;
  int makespan = -1;                // Z
  int equal = -1;                   // w, or -1
  std::vector<SchemeGroup> merged;  // the replicas of each group
  std::vector<Group> groups;
  std::vector<int> class_rows;  // v of each class; the last class includes all larger ones
};

// Builds the model. Requires a non-empty step and a usable strategy.
AssignGrouped build_assign_grouped(const AssignTable& table, int strategy,
                                   const AssignGroupedOptions& options);

// Returns the solution of the model that corresponds to a verified plan of its strategy.
std::vector<double> encode(const AssignGrouped& grouped, const AssignInstance& instance,
                           const AssignTable& table, const AssignPlan& plan);

}  // namespace stowage
