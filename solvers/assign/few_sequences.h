// The optimum of a step of few sequences, by dynamic programming over their subsets: what each
// share takes on each scheme, and which shares the replicas of a strategy can hold between them in
// a given time. Not installed.
//
//   if (has_few_sequences(instance)) {
//     const FewResult result = solve_few(instance, bound_ms, incumbent_ms, budget);
//     if (result.complete && !result.plan) ...   // no plan takes less than the incumbent
//   }
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/budget.h"

namespace stowage {

// Whether the optimum is a matter of some tenths of a second: at most 16 sequences, or 17 on
// schemes without stages, and not too many strategies.
bool has_few_sequences(const AssignInstance& instance);

// Whether solve_few() can be asked at all, with a limit on its steps: one sequence more.
bool may_have_few_sequences(const AssignInstance& instance);

struct FewResult {
  bool complete = false;           // or else the budget or the steps ended it
  std::optional<AssignPlan> plan;  // the fastest of those that take less than the limit
};

// No plan is known to take less than `bound`; `limit` may be infinite. At most about so many
// `steps`, of which a core does some hundred million in a second. Requires has_few_sequences().
FewResult solve_few(const AssignInstance& instance, Ms bound, Ms limit,
                    const Budget& budget = Budget(),
                    std::int64_t steps = std::numeric_limits<std::int64_t>::max());

}  // namespace stowage
