// Steps planned one after another, several at a time, handed out in order.
//
//   plan_stream([&] { return next_step(); }, {.method = "fast"}, {}, 4,
//               [&](PlannedStep&& step) { write(step.outcome); return true; });
//
// What is handed out depends on each step alone, so that its bytes do not depend on the number of
// threads, unless a wall-clock limit was set.
//
// Thread safety: any number of threads may call plan_stream() at once; `next` and `take` of one
// call may run at the same time, but neither twice at once.
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
  // Instead of planning: what is handed out in the step's turn, such as an error.
  std::optional<Outcome> outcome;
};

struct PlannedStep {
  std::int64_t index = 0;
  Instance instance;
  Outcome outcome;
};

// Asks `next` for steps until it has none, plans each with `options` within `limits` (per step) on
// one of `threads` threads, and gives the outcomes to `take` in the order of the steps, each as
// soon as it and those before it are planned. `next` may wait for the plan of one step before it
// returns the next step. At most twice as many steps as threads are under way or wait
// for their turn. Ends early when `take` returns false; steps under way are then thrown away.
// `next` is called from the calling thread and `take` from one other; what they throw ends the
// stream and is thrown again. If no thread can be started, the calling one plans all steps, one
// after another.
void plan_stream(FunctionRef<std::optional<StreamStep>()> next, const SolveOptions& options,
                 const Budget::Limits& limits, int threads, FunctionRef<bool(PlannedStep&&)> take);

}  // namespace stowage
