// The remedy of `stowage memory` for a scatter plan whose micro-batches do not fit.
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

// Returns whether the plan fits with this recomputation mode, or Fit::unknown.
using FitOf = std::function<Fit(Recompute)>;

// Returns a remedy such as "solve again with activation_mib_per_token 4.653 (now 4.480441895), or
// train with --recompute selective, which fits". The number is the MiB per token that the planner
// must count so that plans fit. If a layout was not searched to its end, the text calls the number
// an upper limit. Requires a group.
std::string memory_remedy(const ScatterInstance& instance, Recompute now,
                          const std::vector<GroupMemory>& groups, const FitOf& fit_of);

}  // namespace stowage
