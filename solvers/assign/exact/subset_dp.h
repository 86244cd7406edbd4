// Optimal plans for instances of few sequences, by dynamic programming over subsets: the time of
// each share on each scheme, and the shares that the replicas of a strategy can hold together
// within a time. Not installed.
//
//   if (has_few_sequences(instance)) {
//     const FewResult result = solve_few(instance, bound_ms, incumbent_ms, budget);
//     if (result.complete && !result.plan) ...   // no plan is faster than the incumbent
//   }
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/budget.h"

namespace stowage {

// Returns true if the optimum takes some tenths of a second: at most 16 sequences, or 17 on schemes
// without pipeline stages, and not too many strategies.
bool has_few_sequences(const AssignInstance& instance);

// Returns true if solve_few() accepts the instance with a limit on its steps: one sequence more
// than has_few_sequences().
bool may_have_few_sequences(const AssignInstance& instance);

struct FewResult {
  bool complete = false;           // false if the budget or the limit on steps ended the search
  std::optional<AssignPlan> plan;  // the fastest plan below the limit; nullopt if no plan is
};

// Returns the fastest plan below `limit`, which may be infinite. `bound` is a proven lower bound on
// every plan. Takes about `steps` steps at most; a core takes about a hundred million per second.
// Requires has_few_sequences().
FewResult solve_few(const AssignInstance& instance, Ms bound, Ms limit,
                    const Budget& budget = Budget(),
                    std::int64_t steps = std::numeric_limits<std::int64_t>::max());

}  // namespace stowage
