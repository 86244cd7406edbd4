// A configuration: for each stage the time of a micro-batch and the memory of its devices.
//
// Above, a bar per stage over the time: what a mean micro-batch takes forward and backward. Below,
// a bar per stage over memory, with the device's memory as a line.
#pragma once

#include "instances/pictures/drawing/panel.h"
#include "instances/pictures/shown_bound.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

// Requires a plan that verify() finds nothing wrong with.
Picture strategy_stages(const StrategyInstance& instance, const StrategyPlan& plan,
                        const ShownBounds& bounds);

}  // namespace stowage
