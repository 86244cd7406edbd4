// Every order heuristic.
#pragma once

#include <vector>

#include "heuristics/heuristic.h"
#include "heuristics/order/params.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/order/table.h"

namespace stowage {

// Has no plan where its peak would exceed the capacity of the instance.
using OrderHeuristic = Heuristic<OrderInstance, OrderTable, OrderPlan>;

// Published baselines first, then ours from quick to thorough; those that use a host, or run
// operators again, only where there is one, or some may.
std::vector<OrderHeuristic> heuristics(const OrderInstance& instance,
                                       const OrderHeuristicParams& params = {});

// The best of the orders that take one pass, the first of equal ones.
std::vector<int> best_simple_order(const OrderTable& table);

}  // namespace stowage
