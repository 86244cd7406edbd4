// The oracle of the scatter family: exhaustive enumeration, for instances of at most a dozen
// sequences.
//
// Written for obviousness, from the problem statement and the cost model alone, so that every other
// solver can be compared with it.
#pragma once

#include <optional>

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

inline constexpr int kBruteForceSequences = 12;

// Returns the optimal plan, or nullopt if a sequence fits in no degree. Dynamic programme over
// subsets of sequences and devices in use: O(3^K N degrees), in a pipeline O(6^K K + 3^K N
// degrees). Requires at most kBruteForceSequences sequences.
std::optional<ScatterPlan> brute_force(const ScatterInstance& instance);

}  // namespace stowage
