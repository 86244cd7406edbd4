// List of all order heuristics.
#pragma once

#include <vector>

#include "heuristics/heuristic.h"
#include "heuristics/order/params.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/order/planning_table.h"

namespace stowage {

// A heuristic returns no plan if its peak would exceed the capacity of the instance.
using OrderHeuristic = Heuristic<OrderInstance, OrderTable, OrderPlan>;

// Returns the published baselines, then stowage's own methods from quick to thorough. Methods that
// use a host or repeat runs are included only if the instance has a host or allows repeated runs.
std::vector<OrderHeuristic> heuristics(const OrderInstance& instance,
                                       const OrderHeuristicParams& params = {});

// Returns the order with the least peak among the one-pass orders; of equal orders the first.
std::vector<int> best_simple_order(const OrderTable& table);

}  // namespace stowage
