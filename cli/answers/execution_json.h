// The answer of `stowage run` as JSON text: stowage/execution.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/exit_codes.h"
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

// What a run computed and measured. `timeless` leaves out everything that was measured with a
// clock.
std::string execution_json(const Instance& instance, const kernels::ExecutionReport& report,
                           kernels::ExchangeKind exchange, bool timeless, ExitCode code);

// The same of a layout plan.
std::string layout_execution_json(const LayoutInstance& instance, const LayoutPlan& plan,
                                  const kernels::BlockExecution& report, ExitCode code);
std::string layout_execution_json(const LayoutInstance& instance, const LayoutPlan& plan,
                                  const kernels::MemoryExercise& report, ExitCode code);

// The same of an order plan, whose tensors were laid out in so many bytes.
std::string order_execution_json(const OrderInstance& instance, const OrderPlan& plan,
                                 Bytes layout_bytes, const kernels::OrderExecution& report,
                                 ExitCode code);
std::string order_execution_json(const OrderInstance& instance, const OrderPlan& plan,
                                 Bytes layout_bytes, const kernels::MemoryExercise& report,
                                 ExitCode code);

// The same of a strategy plan and what was made of it to be executed.
std::string strategy_execution_json(const StrategyInstance& instance, const StrategyPlan& plan,
                                    const kernels::ScaledStrategy& scaled,
                                    const kernels::StrategyReport& report, bool timeless,
                                    ExitCode code);

// A run that did not happen because the plan is invalid: "passed" is false, nothing was computed.
std::string refused_execution_json(const Instance& instance,
                                   const std::vector<Violation>& violations, ExitCode code);

}  // namespace stowage
