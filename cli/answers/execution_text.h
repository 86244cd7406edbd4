// What `stowage run` says to people about an execution, and its exit code.
#pragma once

#include <optional>

#include "cli/terminal/console.h"
#include "cli/terminal/exit_codes.h"
#include "instances/strategy/plan.h"
#include "kernels/run/executor.h"
#include "kernels/strategy/scaled_strategy.h"
#include "kernels/strategy/strategy_report.h"

namespace stowage {

// ok, refused when something was computed wrongly, unknown when the budget ended the run before.
ExitCode exit_code(const kernels::ExecutionReport& report);

// What the step took here; nothing unless the whole plan was executed.
std::optional<double> measured_ms(const kernels::ExecutionReport& report);

// Tables of batches and of errors, notes, problems and the verdict, on stderr.
void tell_execution(Console& console, const kernels::ExecutionReport& report);

// The same of a strategy, by stages.
void tell_strategy(Console& console, const StrategyPlan& plan,
                   const kernels::ScaledStrategy& scaled, const kernels::StrategyReport& report,
                   ExitCode code);

}  // namespace stowage
