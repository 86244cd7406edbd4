// The least time, or the least peak without a stall, of a graph with a host by exhaustive
// enumeration: every order, and for up to two tensors a transfer out and back at any steps.
#pragma once

#include <cstddef>
#include <optional>

#include "instances/order/instance.h"

namespace stowage {

inline constexpr std::size_t kMaxOracleTransfers = 2;

// Returns the optimum in the unit of the objective, or nullopt if no such plan fits in the
// capacities. There is no recomputation. Requires a host and few operators.
std::optional<double> brute_force_host(const OrderInstance& instance);

}  // namespace stowage
