// The outputs that take the memory of tensors which end at their operator.
//
//   plan.in_place = reuses_of(table, order);
#pragma once

#include <span>
#include <vector>

#include "instances/order/plan.h"
#include "instances/order/planning_table.h"

namespace stowage {

// Returns the outputs of all operators that take the memory of other tensors in an order that has
// each operator once; in the order of their steps.
std::vector<OrderReuse> reuses_of(const OrderTable& table, std::span<const int> order);

// Returns, by operator, the bytes that it adds to the live memory while it runs: its outputs and
// its workspace, less the outputs that take the memory of other tensors.
std::vector<Bytes> added_by(const OrderTable& table, std::span<const OrderReuse> reuses);

}  // namespace stowage
