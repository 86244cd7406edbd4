// Makes the layout problem of an order: the size and lifetime of each tensor.
//
//   const LayoutInstance buffers = order_layout(graph, plan);
#pragma once

#include "instances/layout/instance.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"

namespace stowage {

// Makes one buffer per run that makes a tensor, per input, and per workspace. Tensors in place
// share the buffer of the first of them, which has its name. A step of the layout is a step of the
// order. Alignment and capacity are those of the graph. The load is at most the plan's peak, and
// equals it if the alignment divides all sizes. The tensors come first, in the order of the graph.
// Requires a plan that verifies.
//
// If sizes grow with a length, the sizes are those of the longest length and the order is the
// plan's, or those of a row's longest length and the row's order. Shorter lengths have smaller
// sizes and no longer lifetimes. So a layout for the row's longest length is valid for each of its
// lengths.
LayoutInstance order_layout(const OrderInstance& graph, const OrderPlan& plan);
LayoutInstance order_layout(const OrderInstance& graph, const OrderRow& row);

}  // namespace stowage
