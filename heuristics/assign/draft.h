// An assign plan under construction: positions of AssignTable in rows of replicas.
#pragma once

#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/assign/table.h"
#include "instances/budget.h"

namespace stowage {

struct RowDraft {
  std::vector<int> positions;
  Tokens tokens = 0;
  Ms work = 0;  // sum of AssignTable::work; the row lasts that and the scheme's fixed_ms
};

struct ReplicaDraft {
  int scheme = 0;
  std::vector<RowDraft> rows;  // none is empty
  Ms time = 0;                 // T of instances/assign/instance.h
};

struct AssignDraft {
  int strategy = 0;
  std::vector<ReplicaDraft> replicas;  // all of the strategy, group by group
};

// Returns the time of the slowest replica in ms, 0 without sequences.
Ms objective(const AssignDraft& draft);

// Returns T of the rows on a scheme in ms.
Ms time_of(const AssignTable& table, int scheme, const std::vector<RowDraft>& rows);

void append(const AssignTable& table, int scheme, int position, RowDraft& row);

// Returns all positions of the replica, ascending.
std::vector<int> positions_of(const ReplicaDraft& replica);

// Returns the plan. The budget limits the parts that compose_assign() may leave out.
AssignPlan to_plan(const AssignInstance& instance, const AssignTable& table,
                   const AssignDraft& draft, const Budget& budget = Budget());

// Inverts to_plan(). Requires a plan that verifies against the table's instance.
AssignDraft to_draft(const AssignInstance& instance, const AssignTable& table,
                     const AssignPlan& plan);

}  // namespace stowage
