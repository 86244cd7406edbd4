// The oracle for orders: enumeration of all orders, for a handful of operators.
//
// Written for obviousness, from the page of the format alone, so that every other solver can be
// compared with it. Precedences are tested pair by pair, and the need of a step is summed tensor by
// tensor.
#pragma once

#include <optional>

#include "instances/order/instance.h"
#include "instances/order/plan.h"

namespace stowage {

// Returns an optimal plan, or nullopt if the capacity is too small for every order. O(n! n m). Made
// for at most nine operators, or a few more with many precedences.
std::optional<OrderPlan> brute_force(const OrderInstance& instance);

}  // namespace stowage
