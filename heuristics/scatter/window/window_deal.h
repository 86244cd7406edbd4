// Deals the sequences of several consecutive steps out to these steps anew, so that the steps are
// faster together.
//
// A long sequence needs many devices, and a step that has one of a kind leaves devices idle beside
// it. If the long sequences of a window of steps share fewer steps, they share micro-batches. Each
// step keeps its number of sequences: sequences only swap their places. A sequence may come to any
// earlier step of the window, and to a step that is at most `delay` steps later than the step that
// it was drawn in. WLB-LLM (arXiv 2503.17924, section 4.2) delays long documents; this delays or
// advances any sequence. The tokens of a step may be limited to the range of the drawn steps, or to
// a multiple of it.
//
//   WindowDeal drawn = as_drawn(steps);
//   std::vector<WindowDeal> deals = best_deals(steps, {{.delay = 3}}, seed, budget);
//   if (!deals.empty()) ScatterInstance first = dealt_step(steps, deals.front(), 0);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/scatter/params.h"
#include "instances/budget.h"
#include "instances/scatter/drawn.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/window_rule.h"

namespace stowage {

// By step of the window: its sequences, by the step of the window and the index that they were
// drawn with.
using WindowDeal = std::vector<std::vector<DrawnSequence>>;

// Returns the window as it was drawn.
WindowDeal as_drawn(const std::vector<ScatterInstance>& steps);

// Returns step `own` of the window with the sequences of `deal[own]`, and their targets, in this
// order.
ScatterInstance dealt_step(const std::vector<ScatterInstance>& steps, const WindowDeal& deal,
                           std::size_t own);

struct DealEffort {
  WindowRule rule;
  DealParams params = {};
};

// Returns the deals of the least estimated times of all steps together, the best first; only deals
// that are faster than the window as drawn, and none if there are none. The estimate is the method
// `fast` with few annealing moves. The search gathers the longest sequences of all steps, and then
// of pairs of steps, in fewer steps, and lets runs of sequences of the best deal change their
// steps. Every deal keeps the rule. Requires steps that each have a plan. Deterministic in
// `seed` unless the budget ends first.
std::vector<WindowDeal> best_deals(const std::vector<ScatterInstance>& steps,
                                   const DealEffort& effort, std::uint64_t seed,
                                   const Budget& budget);

}  // namespace stowage
