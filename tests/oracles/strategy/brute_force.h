// The best configuration of a small strategy instance, by exhaustive enumeration.
#pragma once

#include <optional>

#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

// Returns the plan without hash and bound, or nullopt if no configuration fits.
std::optional<StrategyPlan> brute_force(const StrategyInstance& instance);

}  // namespace stowage
