// Plans a stream of steps, several at a time, and returns them in order.
//
//   plan_stream([&] { return next_step(); }, {.method = "fast"}, {}, 4,
//               [&](PlannedStep&& step) { write(step.outcome); return true; });
//
// Each outcome depends only on its step. So its bytes do not depend on the number of threads,
// unless a wall-clock limit is set.
//
// Thread safety: any number of threads may call plan_stream() at once. `next` and `take` of one
// call may run at the same time, but neither runs twice at once.
#pragma once

#include <cstdint>
#include <optional>

#include "instances/budget.h"
#include "instances/instance.h"
#include "solvers/function_ref.h"
#include "solvers/outcome.h"
#include "solvers/solve.h"

namespace stowage {

struct StreamStep {
  std::int64_t index = 0;
  Instance instance;
  // If set, this outcome is handed out in the step's turn instead of a plan, for example an error.
  std::optional<Outcome> outcome;
};

struct PlannedStep {
  std::int64_t index = 0;
  Instance instance;
  Outcome outcome;
};

// Calls `next` for steps until it returns nullopt. Plans each step with `options` within `limits`
// (per step) on one of `threads` threads. Calls `take` with the outcomes in the order of the steps,
// each as soon as it and all earlier ones are planned. `next` may wait for the plan of one step
// before it returns the next step. At most twice as many steps as threads are planned or wait for
// their turn. Ends early if `take` returns false, and then drops the other steps. `next` is called
// from the calling thread and `take` from one other thread. An exception of either ends the stream
// and is thrown again. If no thread can be started, the calling thread plans all steps, one after
// another.
void plan_stream(FunctionRef<std::optional<StreamStep>()> next, const SolveOptions& options,
                 const Budget::Limits& limits, int threads, FunctionRef<bool(PlannedStep&&)> take);

}  // namespace stowage
