// The text of `stowage run` about an execution, and its exit code.
#pragma once

#include <optional>

#include "cli/terminal/console.h"
#include "cli/terminal/error/exit_codes.h"
#include "instances/strategy/plan.h"
#include "kernels/run/executor.h"
#include "kernels/strategy/scaled_strategy.h"
#include "kernels/strategy/strategy_report.h"

namespace stowage {

// Returns `ok`, `refused` if a result was wrong, or `unknown` if the budget ended the run before.
ExitCode exit_code(const kernels::ExecutionReport& report);

// Returns the measured time of the step in ms, or nullopt if the plan was not executed completely.
std::optional<double> measured_ms(const kernels::ExecutionReport& report);

// Writes tables of batches and of errors, notes, problems and the verdict to stderr.
void tell_execution(Console& console, const kernels::ExecutionReport& report);

// Writes the same for a strategy, by stages.
void tell_strategy(Console& console, const StrategyPlan& plan,
                   const kernels::ScaledStrategy& scaled, const kernels::StrategyReport& report,
                   ExitCode code);

}  // namespace stowage
