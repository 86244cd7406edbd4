// Bounds the step, and finds faster plans, by the tree search of completion.h. Not installed.
//
//   const CompletionBound found = completion_bound(table, objective, bound, proven, {}, budget);
//   if (found.draft) ...                  // faster than the objective
//   if (found.bound > bound) ...          // no plan is faster than that
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/assign/working_plan.h"
#include "instances/assign/planning_table.h"
#include "instances/budget.h"

namespace stowage {

struct CompletionOptions {
  std::int64_t nodes = 1'000'000;  // approximate node limit of completion.h
  int times = 8;                   // largest number of times tested between bound and objective
};

struct CompletionBound {
  Ms bound = 0;  // proven lower bound in ms, at least the known bound
  std::optional<AssignWorkingPlan>
      draft;  // a plan faster than the objective, if the search found one
};

// Tests whether any strategy allows a time between bound and objective: first a time just below the
// objective, then midpoints if that took too much work. `proven` is the known bound of each
// strategy, infinite if the strategy cannot be used; an empty list stands for the bound. Returns
// the known bound if the instance has no sequence or more than kMaxCompleted.
CompletionBound completion_bound(const AssignTable& table, Ms objective, Ms bound,
                                 std::vector<Ms> proven, const CompletionOptions& options,
                                 const Budget& budget);

}  // namespace stowage
