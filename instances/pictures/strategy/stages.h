// Draws a configuration: for each stage the time of a micro-batch and the memory of its devices.
//
// The upper plot has a bar per stage with the time that a mean micro-batch takes forward and
// backward. The lower plot has a bar per stage with its memory, and the device's memory as a line.
#pragma once

#include "instances/pictures/drawing/panel.h"
#include "instances/pictures/shown_bound.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

// Requires a plan for which verify() returns no violations.
Picture strategy_stages(const StrategyInstance& instance, const StrategyPlan& plan,
                        const ShownBounds& bounds);

}  // namespace stowage
