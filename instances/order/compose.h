// From an order to an order plan: fills in what follows from it.
#pragma once

#include <span>

#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/order/table.h"

namespace stowage {

// The plan with its peak, and its time if that is the objective. Requires the table of the instance
// and an order of all operators that keeps the precedences; some may stand in it again; transfers
// as verify() wants them. The hash and the bound are the caller's to set.
OrderPlan compose_order(const OrderInstance& instance, const OrderTable& table,
                        std::span<const int> order, std::span<const OrderTransfer> transfers = {});

}  // namespace stowage
