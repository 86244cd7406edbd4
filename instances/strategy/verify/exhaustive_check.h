// Finds the least step of a strategy instance by trying every configuration. `verify` uses it for
// bounds without a certificate, and tests compare with it. Not installed.
//
//   if (const std::optional<Ms> least = least_step(instance)) ...
//
// It uses the arithmetic of the verifier, and shares no code with planners.
#pragma once

#include <cstdint>
#include <optional>

#include "instances/strategy/instance.h"
#include "instances/units.h"

namespace stowage {

// Limit of the stages that are computed.
inline constexpr std::int64_t kMaxConfigurationsTriedAgain = 200'000;

// Returns the least step in ms: infinite if no configuration fits, nullopt if it would take more
// than `most` stages.
std::optional<Ms> least_step(const StrategyInstance& instance,
                             std::int64_t most = kMaxConfigurationsTriedAgain);

}  // namespace stowage
