// The best configuration of a small strategy instance, by trying all of them.
#pragma once

#include <optional>

#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

// Without hash and bound; nothing if no configuration fits.
std::optional<StrategyPlan> brute_force(const StrategyInstance& instance);

}  // namespace stowage
