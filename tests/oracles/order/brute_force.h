// The oracle for orders: tries every one. For a handful of operators at most.
//
// Written for obviousness, from the page of the format alone, so that every other solver can be
// held against it: which operators may run next is asked pair by pair, and what a step needs is
// added up tensor by tensor.
#pragma once

#include <optional>

#include "instances/order/instance.h"
#include "instances/order/plan.h"

namespace stowage {

// An optimal plan, or nothing if the capacity is too small for every order. O(n! n m). Made for at
// most nine operators, or a few more with many precedences.
std::optional<OrderPlan> brute_force(const OrderInstance& instance);

}  // namespace stowage
