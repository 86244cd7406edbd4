// Draws the pipeline of a configuration pass by pass, as planned and under zero-bubble schedules.
//
// For each schedule, stages go downwards and time goes to the right, all to the same scale. Grey is
// bubble.
#pragma once

#include <vector>

#include "instances/pictures/drawing/panel.h"
#include "instances/strategy/cost/schedules.h"
#include "instances/strategy/instance.h"

namespace stowage {

// Requires schedules that strategy_schedules() made for this instance.
Picture strategy_passes(const StrategyInstance& instance,
                        const std::vector<StrategySchedule>& schedules);

}  // namespace stowage
