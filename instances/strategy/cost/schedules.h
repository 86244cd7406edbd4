// Simulates the pipeline of a strategy plan pass by pass, and the same pipeline under zero-bubble
// schedules.
//
// T10 of docs/reference/strategy.md is a formula of the slowest stage. Here every pass of every
// mean micro-batch is simulated (instances/pipeline/passes.h). The exchange of states follows the
// passes, as in T10.
//
//   if (const auto runs = strategy_schedules(instance, plan)) {
//     runs->front().run.end;     // under the plan's schedule
//     runs->back().memory_mib;   // of the heaviest stage under ZB-H2
//   }
//
// Thread safety: functions of their arguments alone.
#pragma once

#include <optional>
#include <vector>

#include "instances/pipeline/passes.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

struct StrategySchedule {
  PassPipeline pipeline;
  PassRun run;
  Mib memory_mib = 0;  // of the heaviest stage
};

// Returns the plan's schedule, ZB-H1 and ZB-H2, in this order, the last two without chunks. A
// stage's time is split evenly over its chunks, as in T10. Returns nullopt for one stage, or for
// more than two million passes of one schedule. Requires a plan for which verify() returns no
// violations.
std::optional<std::vector<StrategySchedule>> strategy_schedules(const StrategyInstance& instance,
                                                                const StrategyPlan& plan);

}  // namespace stowage
