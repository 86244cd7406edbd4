// The oracle of the assign family: tries everything, on steps of eight sequences at most.
//
// Written for obviousness, from the problem statement alone, so that every other planner can be
// held against it.
#pragma once

#include <optional>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/budget.h"

namespace stowage {

inline constexpr int kAssignBruteForceSequences = 8;

// The optimal plan, or nothing if there is none: a sequence exceeds every cap, or the row
// constraints cannot be met. Packs every subset of the sequences into rows in every way, then deals
// subsets to replicas by dynamic programming: O(Bell(K + 1) + 3^K replicas K) per strategy.
// Nothing either if the budget ends first. Requires at most kAssignBruteForceSequences sequences.
std::optional<AssignPlan> brute_force(const AssignInstance& instance,
                                      const Budget& budget = Budget());

}  // namespace stowage
