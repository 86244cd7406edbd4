// What `stowage configure` found, on one HTML page: the configuration and its bound, where the time
// of the ranked ones goes, stages, the first step as a pipeline and by ranks, and the memory of the
// heaviest rank.
#pragma once

#include <string>

#include "instances/strategy/instance.h"
#include "solvers/configure/configure.h"

namespace stowage {

// Requires a first configuration with plans for all steps. The same run makes the same bytes.
std::string configured_page(const StrategyInstance& instance, const ConfiguredRun& run);

}  // namespace stowage
