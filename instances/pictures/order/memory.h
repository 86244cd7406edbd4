// The memory of an order: steps to the right, bytes upwards.
//
// Above, what each step needs: live before it, and on top what its operator adds. A dashed line is
// what the order of the list needs, step by step. Below, who is alive at the peak, one bar per
// tensor over the steps of its life, the largest first; the rest together are told in words. Where
// sizes grow with a length all that is of the longest one, and the peak of each row with its bound
// is drawn over the lengths.
#pragma once

#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/pictures/drawing/panel.h"
#include "instances/pictures/shown_bound.h"

namespace stowage {

// Requires a plan that verify() finds nothing wrong with.
Picture order_memory(const OrderInstance& instance, const OrderPlan& plan,
                     const ShownBounds& bounds);

}  // namespace stowage
