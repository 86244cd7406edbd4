// A configuration as a user states it, without the values that follow from the instance: a bare
// strategy plan.
//
//   Result<StrategyPlan> plan =
//       read_configuration("pp=4,tp=8,zero=1,recompute=full,micro_batch_size=2", instance);
//   if (plan) std::cout << plan->step_ms;  // verify() checks whether it fits
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <string_view>

#include "instances/result.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

// Reads a stowage/plan or the plan inside a stowage/outcome, as read_strategy_plan() does, or a
// bare plan. A bare plan is a stowage/plan without `instance_hash`, `objective_ms` and `stages`,
// which states only the configuration (docs/reference/strategy.md). Its times and memory follow
// from the instance, which must be valid, and it has no bound. E387 if it does not fit the
// instance's devices, sequences and layers.
Result<StrategyPlan> complete_strategy_plan(std::string_view text,
                                            const StrategyInstance& instance);

// Reads "pp=4,tp=8,...", the keys of a bare plan with their values, in the same way. E387 also for
// an unknown key and for a value that is not an integer or a name; pointers are "pp", "tp", ...
Result<StrategyPlan> read_configuration(std::string_view text, const StrategyInstance& instance);

// Returns the instance with each value of the plan added to its options.
StrategyInstance with_options_of(StrategyInstance instance, const StrategyPlan& plan);

}  // namespace stowage
