// The layout that an order leaves to be found: what each tensor needs, and when.
//
//   const LayoutInstance buffers = order_layout(graph, plan);
#pragma once

#include "instances/layout/instance.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"

namespace stowage::kernels {

// A buffer per run that makes a tensor, per input, and per workspace; a step of the layout is a
// step of the order. Alignment and capacity are those of the graph. Its load is at most the plan's
// peak, and equals it where the alignment divides all sizes. The tensors come first, in the order
// of the graph. Requires a plan that verify() finds nothing wrong with.
LayoutInstance order_layout(const OrderInstance& graph, const OrderPlan& plan);

}  // namespace stowage::kernels
