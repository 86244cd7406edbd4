// Plans the steps of a window together: deals their sequences out anew, plans each step, and keeps
// the window as it was drawn if that is as fast.
//
//   WindowPlan plan = plan_window({step_8, step_9, step_10, step_11}, {.delay = 3},
//                                 {.method = "fast"}, {});
//   plan.deal[0][5];        // step 8, sequence 5 was drawn as this sequence of the window
//   plan.outcomes[0].plan;  // of plan.steps[0]
//
// Thread safety: a function of its arguments alone; any number of threads may call it at once.
#pragma once

#include <vector>

#include "heuristics/scatter/window/window_deal.h"
#include "instances/budget.h"
#include "instances/scatter/instance.h"
#include "solvers/outcome.h"
#include "solvers/solve.h"

namespace stowage {

struct WindowPlan {
  std::vector<ScatterInstance> steps;  // with the sequences that they compute
  std::vector<Outcome> outcomes;       // by step
  WindowDeal deal;                     // by step; steps are counted from the first of the window
  double drawn_ms = 0;  // sum of the step times as drawn, and as planned; 0 if a step has no plan
  double planned_ms = 0;
};

// Returns the time in ms of a planned step: the end of its simulated 1F1B schedule if it has
// pipeline stages, otherwise its objective. Requires a plan.
double step_time_ms(const Outcome& outcome);

// Plans the window as drawn and as best_deals() deals it under `rule`, each step with `options`
// within `limits`, and returns the plans whose times have the least sum; the window as drawn if
// none is faster. Throws std::logic_error if check_window() finds that the deal breaks the rule.
// The window stays as drawn if a step has no plan, if it has fewer than two steps, or if only some
// steps state the targets of their sequences (loss_tokens).
WindowPlan plan_window(std::vector<ScatterInstance> steps, const WindowRule& rule,
                       const SolveOptions& options, const Budget::Limits& limits);

}  // namespace stowage
