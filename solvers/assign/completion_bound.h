// What completion.h proves of a step beyond the bounds of its strategies, and the plans that it
// meets on the way. Not installed.
//
//   const CompletionBound found = completion_bound(table, objective, bound, proven, nodes, budget);
//   if (found.draft) ...                  // faster than the objective
//   if (found.bound > bound) ...          // no plan is faster than that
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/assign/draft.h"
#include "instances/assign/table.h"
#include "instances/budget.h"

namespace stowage {

struct CompletionBound {
  Ms bound = 0;                      // proven, at least what was known
  std::optional<AssignDraft> draft;  // less than the objective, if there is one
};

// Asks of one time after the other, between bound and objective, whether any strategy allows it:
// first just below the objective, then halfway where that was too much work. `proven`: what is
// known of each strategy, infinite for those that cannot be used; empty: nothing. At most about so
// many `nodes` of completion.h. Nothing new for a step of no sequence or of more than
// kMostCompleted.
CompletionBound completion_bound(const AssignTable& table, Ms objective, Ms bound,
                                 std::vector<Ms> proven, std::int64_t nodes, const Budget& budget);

}  // namespace stowage
