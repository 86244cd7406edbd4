// The least step of a strategy instance, by trying every configuration. Not installed: `verify`
// tries bounds again that leave no certificate, and tests compare with it.
//
//   if (const std::optional<Ms> least = least_step(instance)) ...
//
// It shares the arithmetic of the verifier, and nothing with whoever plans.
#pragma once

#include <cstdint>
#include <optional>

#include "instances/strategy/instance.h"
#include "instances/units.h"

namespace stowage {

inline constexpr std::int64_t kMostConfigurationsTriedAgain = 200'000;  // stages that are counted

// Infinite if nothing fits; nothing if it would take more stages than that.
std::optional<Ms> least_step(const StrategyInstance& instance,
                             std::int64_t most = kMostConfigurationsTriedAgain);

}  // namespace stowage
