// The grouped relaxation of one assign strategy: the replicas of a scheme are one group, so that
// nothing names a replica and nothing is symmetric. Its optimum, or any lower bound on it, is a
// lower bound on the strategy's step.
//
//   const AssignGrouped grouped =
//       build_assign_grouped(table, strategy, {.upper = plan.objective_ms});
//   const MilpParams params{.start = encode(grouped, instance, table, plan)};
//   const MilpResult r = solve_milp(backend, grouped.model, params, budget);
//   r.bound  // ms; a solver's "infeasible" is its failure
//
// Empty replicas are allowed for: every plan of the strategy no slower than `upper` is a point of
// the model (encode() gives it). Rows G1 to G12 and the proofs are in formulations/README.md.
#pragma once

#include <vector>

#include "formulations/milp/model.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/assign/table.h"

namespace stowage {

struct AssignGroupedOptions {
  int whole = 60;              // longest sequences that go to one group as a whole; the rest split
  Ms upper = milp::kInfinity;  // no slower plan is of interest; must be that of a plan
  bool integral = true;        // false: the LP relaxation
  // Every replica its own group: stronger, and for a few replicas nearly exact, but symmetric.
  bool apart = false;
};

struct AssignGrouped {
  // The variables of one group.
  struct Group {
    int used = -1;             // e_g
    int rows = -1;             // V_g
    int longest = -1;          // U_g
    int multiple = -1;         // W_g, or -1 without rows_multiple_of
    std::vector<int> share;    // x_kg, -1 where the kind does not fit
    std::vector<int> touched;  // y_kg: whether a whole kind goes here at all; -1 elsewhere
    std::vector<int> count;    // Y_gv for v = class_rows[0], ...; empty for pp = 1
    std::vector<int> work;     // F_gv, beside `count`
  };
  milp::Model model;
  int strategy = 0;
  int makespan = -1;                // Z
  int equal = -1;                   // w, or -1
  std::vector<SchemeGroup> merged;  // the replicas of each group
  std::vector<Group> groups;
  std::vector<int> class_rows;  // v of each class; the last stands for all larger ones, too
};

// Requires a non-empty step and a usable strategy.
AssignGrouped build_assign_grouped(const AssignTable& table, int strategy,
                                   const AssignGroupedOptions& options);

// The point of the model that a verified plan of its strategy is.
std::vector<double> encode(const AssignGrouped& grouped, const AssignInstance& instance,
                           const AssignTable& table, const AssignPlan& plan);

}  // namespace stowage
