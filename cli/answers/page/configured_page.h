// The result of `stowage configure` as one HTML page: the configuration and its bound, the ranking
// with a planned step of each configuration, the time shares of the ranked configurations, stages,
// the first step as a pipeline and by ranks, and the memory of the heaviest rank.
#pragma once

#include <string>

#include "instances/strategy/instance.h"
#include "solvers/configure/configure.h"

namespace stowage {

// Requires a first configuration with plans for all steps. Equal runs give the same bytes.
std::string configured_page(const StrategyInstance& instance, const ConfiguredRun& run);

}  // namespace stowage
