// Large-neighbourhood search over neighbouring micro-batches: replans the windows that waste most.
//
// A step loses most of its device-time beside its longest sequences. A micro-batch lasts as long as
// one of them, and the other groups end earlier. Early random choices decide which long sequences
// share a micro-batch, and moves of single sequences cannot undo these choices. A window of a few
// micro-batches with similar makespans is small enough to be packed for hundreds of other
// makespans.
//
//   replan_windows(table, step, {.rounds = 10}, seed, budget);
#pragma once

#include <cstdint>

#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"

namespace stowage {

struct WindowEffort {
  int rounds = 6;      // windows tried, at most
  double moves = 480;  // annealing moves per sequence, see JointEffort
};

// Takes the window of micro-batches with the largest loss among the windows that have not failed.
// Packs it for makespans around its present ones, with one micro-batch less, the same number or one
// more, and anneals the best packing. Steps of fewer than two micro-batches have no windows, and
// steps of many sequences have few. The step never gets worse, but is reordered. Deterministic in
// `seed` and the effort unless the budget ends first.
void replan_windows(const ScatterTable& table, WorkingStep& step, const WindowEffort& effort,
                    std::uint64_t seed, const Budget& budget);

}  // namespace stowage
