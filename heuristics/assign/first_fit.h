// First-fit-decreasing over replicas under one time, as in MULTIFIT (Coffman, Garey and Johnson
// 1978).
//
//   if (auto sets = first_fit(table, strategy, time)) ...
//
// The first replicas get the longest sequences. In pipelines this is what makes rows even: only
// where a long sequence is does the bubble grow.
#pragma once

#include <optional>

#include "heuristics/assign/dispatch.h"
#include "instances/budget.h"

namespace stowage {

// From the longest sequence to the shortest, each to the first replica that holds it and whose
// even_time stays within the time; in the shortest time met between 0.9 `time` and `time`, in ms,
// in which all find a replica. Replicas that hold longer sequences come first. Nothing if they do
// not fit within `time`, or if the budget ends. Requires a usable strategy and rows without
// constraints.
std::optional<Dispatch> first_fit(const AssignTable& table, int strategy, Ms time,
                                  const Budget& budget = Budget());

}  // namespace stowage
