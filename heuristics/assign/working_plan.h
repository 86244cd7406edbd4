// An assign plan under construction, which holds positions of AssignTable in rows of replicas.
#pragma once

#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/assign/planning_table.h"
#include "instances/budget.h"

namespace stowage {

struct WorkingRow {
  std::vector<int> positions;
  Tokens tokens = 0;
  Ms work = 0;  // sum of AssignTable::work in ms; the row's time adds the scheme's fixed_ms
};

struct WorkingReplica {
  int scheme = 0;
  std::vector<WorkingRow> rows;  // all rows have sequences
  Ms time = 0;                   // T of instances/assign/instance.h, in ms
};

struct AssignWorkingPlan {
  int strategy = 0;
  std::vector<WorkingReplica> replicas;  // all replicas of the strategy, group by group
};

// Returns the time of the slowest replica in ms, 0 without sequences.
Ms objective(const AssignWorkingPlan& draft);

// Returns T of the rows on a scheme in ms.
Ms time_of(const AssignTable& table, int scheme, const std::vector<WorkingRow>& rows);

void append(const AssignTable& table, int scheme, int position, WorkingRow& row);

// Returns all positions of the replica, ascending.
std::vector<int> positions_of(const WorkingReplica& replica);

// Returns the plan of the draft. The budget limits the optional parts of compose_assign().
AssignPlan to_plan(const AssignInstance& instance, const AssignTable& table,
                   const AssignWorkingPlan& draft, const Budget& budget = Budget());

// Returns the draft of a plan; the inverse of to_plan(). Requires a plan that verifies against the
// table's instance.
AssignWorkingPlan to_draft(const AssignInstance& instance, const AssignTable& table,
                           const AssignPlan& plan);

}  // namespace stowage
