// Draws the memory of an order: steps to the right, bytes upwards.
//
// The upper plot shows the memory of each step: the live bytes before it, and on top the bytes that
// its operator adds. A dashed line is the memory of the list's order, step by step. The lower plot
// has the largest tensors that are alive at the peak, one bar per tensor over the steps of its
// life; a line of text sums up the rest. If sizes grow with a length, both plots are those of the
// longest length, and a third plot shows the peak of each row with its bound over the lengths.
#pragma once

#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/pictures/drawing/panel.h"
#include "instances/pictures/shown_bound.h"

namespace stowage {

// Requires a plan for which verify() returns no violations.
Picture order_memory(const OrderInstance& instance, const OrderPlan& plan,
                     const ShownBounds& bounds);

}  // namespace stowage
