// Draws a layout as a map: steps to the right, addresses upwards.
//
// A buffer is a rectangle over the steps at which it needs its bytes; its hue shows how long it
// lives. Grey is free memory below the highest byte in use at that step: the loss by fragmentation.
// Pinned buffers have an edge of ink. Peak, bound and capacity are lines.
#pragma once

#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/pictures/drawing/panel.h"
#include "instances/pictures/shown_bound.h"

namespace stowage {

// Requires a plan for which verify() returns no violations.
Picture layout_map(const LayoutInstance& instance, const LayoutPlan& plan,
                   const ShownBounds& bounds);

}  // namespace stowage
