// Makes an order plan from an order: fills in the fields that follow from it.
#pragma once

#include <span>

#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/order/planning_table.h"

namespace stowage {

// Returns the plan with its peak, and with its time if the time is the objective. Requires the
// table of the instance, an order of all operators that keeps the precedences (operators may run
// again), and transfers that verify() accepts. The caller sets the hash and the bound.
OrderPlan compose_order(const OrderInstance& instance, const OrderTable& table,
                        std::span<const int> order, std::span<const OrderTransfer> transfers = {});

}  // namespace stowage
