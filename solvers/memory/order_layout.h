// The layout that an order leaves to be found: what each tensor needs, and when.
//
//   const LayoutInstance buffers = order_layout(graph, plan);
#pragma once

#include "instances/layout/instance.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"

namespace stowage {

// A buffer per run that makes a tensor, per input, and per workspace; a step of the layout is a
// step of the order. Alignment and capacity are those of the graph. Its load is at most the plan's
// peak, and equals it where the alignment divides all sizes. The tensors come first, in the order
// of the graph. Requires a plan that verify() finds nothing wrong with.
//
// Where sizes grow with a length, they are those of the longest one, in the order of the plan; or
// of the longest length of a row, in its order. Sizes only shrink towards shorter lengths and
// nobody lives longer: a layout of the row's longest length is one of each of its lengths.
LayoutInstance order_layout(const OrderInstance& graph, const OrderPlan& plan);
LayoutInstance order_layout(const OrderInstance& graph, const OrderRow& row);

}  // namespace stowage
