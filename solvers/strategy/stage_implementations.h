// The functions that the stages of a strategy solve run. stages.cc lists the order of the stages.
// Not installed.
#pragma once

#include <optional>

#include "instances/budget.h"
#include "solvers/outcome.h"
#include "solvers/strategy/stage_context.h"

namespace stowage::strategy_stage {

// Reason why a stage ends the whole solve; nullopt continues with the next stage.
using Ended = std::optional<StoppedBy>;

// Submits the plan of the heuristic that the method names, or of `fast`.
Ended heuristic(StrategyContext& context, Budget& budget);

// Refutes the instance if the configuration with the least need of memory does not fit.
Ended memory(StrategyContext& context, Budget& budget);

// Certifies a bound by cases of the slowest stage, and by better prices for the other classes.
Ended thresholds(StrategyContext& context, Budget& budget);

// Certifies a bound by equal prices of the stages.
Ended prices(StrategyContext& context, Budget& budget);

// Searches the classes that the bounds do not exclude, the most promising class first.
Ended search(StrategyContext& context, Budget& budget);

// Searches the same classes by a MILP backend.
Ended mip(StrategyContext& context, Budget& budget);

// Runs the baseline UniAP.
Ended uniap(StrategyContext& context, Budget& budget);

}  // namespace stowage::strategy_stage
