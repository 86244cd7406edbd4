// First-fit-decreasing over replicas within one time limit, as in MULTIFIT (Coffman, Garey and
// Johnson 1978).
//
//   if (auto sets = first_fit(table, strategy, time)) ...
//
// The first replicas get the longest sequences. This balances pipelines, because the bubble grows
// only on replicas with a long sequence.
#pragma once

#include <optional>

#include "heuristics/assign/construct/dispatch.h"
#include "instances/budget.h"

namespace stowage {

// Assigns each sequence, longest first, to the first replica that admits it and whose even_time()
// stays within the time. Replicas that admit longer sequences come first. Returns the dispatch of
// the shortest feasible time found between 0.9 `time` and `time`, in ms. Returns nullopt if `time`
// is infeasible or the budget ends. Requires a usable strategy and rows without constraints.
std::optional<Dispatch> first_fit(const AssignTable& table, int strategy, Ms time,
                                  const Budget& budget = Budget());

}  // namespace stowage
