// The JSON answer of `stowage run`: stowage/execution.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/error/exit_codes.h"
#include "instances/families.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "instances/violation.h"
#include "kernels/exchange/exchange.h"
#include "kernels/memory/block_execution.h"
#include "kernels/memory/memory_exercise.h"
#include "kernels/memory/order_execution.h"
#include "kernels/run/executor.h"
#include "kernels/strategy/scaled_strategy.h"
#include "kernels/strategy/strategy_report.h"

namespace stowage {

// Returns the document of a run. `timeless` omits all measured times.
std::string execution_json(const Instance& instance, const kernels::ExecutionReport& report,
                           kernels::ExchangeKind exchange, bool timeless, ExitCode code);

// Returns the document of a layout plan's run.
std::string layout_execution_json(const LayoutInstance& instance, const LayoutPlan& plan,
                                  const kernels::BlockExecution& report, ExitCode code);
std::string layout_execution_json(const LayoutInstance& instance, const LayoutPlan& plan,
                                  const kernels::MemoryExercise& report, ExitCode code);

// Returns the document of an order plan's run whose layout has `layout_bytes` bytes.
std::string order_execution_json(const OrderInstance& instance, const OrderPlan& plan,
                                 Bytes layout_bytes, const kernels::OrderExecution& report,
                                 ExitCode code);
std::string order_execution_json(const OrderInstance& instance, const OrderPlan& plan,
                                 Bytes layout_bytes, const kernels::MemoryExercise& report,
                                 ExitCode code);

// Returns the document of a strategy plan's run and of the scaled task.
std::string strategy_execution_json(const StrategyInstance& instance, const StrategyPlan& plan,
                                    const kernels::ScaledStrategy& scaled,
                                    const kernels::StrategyReport& report, bool timeless,
                                    ExitCode code);

// Returns the document of a plan that was not run because it is invalid: "passed" is false, and
// there are no results.
std::string refused_execution_json(const Instance& instance,
                                   const std::vector<Violation>& violations, ExitCode code);

}  // namespace stowage
