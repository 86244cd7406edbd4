// The least time, or the least peak without a stall, of a graph with a host by trying everything:
// every order, and for up to two tensors a transfer that leaves and comes back at any steps.
#pragma once

#include <cstddef>
#include <optional>

#include "instances/order/instance.h"

namespace stowage {

inline constexpr std::size_t kMostOracleTransfers = 2;

// In the unit of the objective; nothing if no such plan keeps the capacities. Operators do not run
// again. Requires a host and few operators.
std::optional<double> brute_force_host(const OrderInstance& instance);

}  // namespace stowage
