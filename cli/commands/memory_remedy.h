// What makes a scatter plan's micro-batches fit: what `memory` says where they do not.
//
//   console.info(memory_remedy(instance, Recompute::none, groups, fit_of));
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "instances/model/operations.h"
#include "instances/scatter/instance.h"
#include "solvers/memory/step_memory.h"

namespace stowage {

inline double to_mib(Bytes bytes) { return static_cast<double>(bytes) / (1 << 20); }

// Whether the plan fits when this is recomputed; unknown where that was not found out.
using FitOf = std::function<Fit(Recompute)>;

// "solve again with activation_mib_per_token 4.653 (now 4.480441895), or train with --recompute
// selective, which fits". What the planner must count for a token so that plans fit; a figure from
// a layout that was not searched to its end is called the most that it can be. Requires a group.
std::string memory_remedy(const ScatterInstance& instance, Recompute now,
                          const std::vector<GroupMemory>& groups, const FitOf& fit_of);

}  // namespace stowage
