// The oracle of the assign family: exhaustive enumeration, for steps of at most eight sequences.
//
// Written for obviousness, from the problem statement alone, so that every other planner can be
// compared with it.
#pragma once

#include <optional>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/budget.h"

namespace stowage {

inline constexpr int kAssignBruteForceSequences = 8;

// Returns the optimal plan. Returns nullopt if a sequence exceeds every cap, if the row constraints
// cannot be met, or if the budget ends first. Packs every subset of the sequences into rows in
// every way, then distributes subsets over replicas by dynamic programming: O(Bell(K + 1) + 3^K
// replicas K) per strategy. Requires at most kAssignBruteForceSequences sequences.
std::optional<AssignPlan> brute_force(const AssignInstance& instance,
                                      const Budget& budget = Budget());

}  // namespace stowage
