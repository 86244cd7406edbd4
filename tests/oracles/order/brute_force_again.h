// The oracle for plans with recomputation: enumerates every sequence of runs, with a limit on the
// runs of an operator, and every choice of kept tensors. For a handful of operators.
//
// Written for obviousness, from the page of the format alone: a state is the number of runs of each
// operator and the set of tensors in memory. At any time any tensor may be dropped.
#pragma once

#include <optional>

#include "instances/order/instance.h"

namespace stowage {

// Returns the least objective, a peak or a time, or nullopt if the capacity is too small for every
// plan.
std::optional<double> brute_force_again(const OrderInstance& instance, int most_runs = 2);

}  // namespace stowage
