// The oracle for plans in which operators run again: every sequence of runs, each operator at most
// so often, and every choice of what to keep. For a handful of operators at most.
//
// Written for obviousness, from the page of the format alone: a state is how often each operator
// has run and which tensors are there, and at any time any tensor may be dropped.
#pragma once

#include <optional>

#include "instances/order/instance.h"

namespace stowage {

// The least objective, a peak or a time; nothing if the capacity is too small for every plan.
std::optional<double> brute_force_again(const OrderInstance& instance, int most_runs = 2);

}  // namespace stowage
