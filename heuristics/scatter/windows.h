// The micro-batches that waste most, planned anew a few neighbours at a time.
//
// Most of what a step loses against its area it loses beside its longest sequences: a micro-batch
// lasts as long as one of them, and others leave before the end. Which of the long ones go
// together is settled early, by chance, and moves of single sequences do not get out of it. A
// window of some micro-batches of like makespans is small enough to be packed for hundreds of
// other makespans.
//
//   replan_windows(table, step, {.rounds = 10}, seed, budget);
#pragma once

#include <cstdint>

#include "heuristics/scatter/draft.h"
#include "instances/budget.h"

namespace stowage {

struct WindowEffort {
  int rounds = 6;      // windows, at most
  double moves = 480;  // per sequence, as of the annealing that goes with it: see JointEffort
};

// Takes the window whose micro-batches together lose most, among those that have not failed: packs
// it for makespans around its own, of as many micro-batches, one less or one more, and anneals the
// best. Steps of fewer than two micro-batches have no windows, and those of many sequences few.
// Never makes the step worse, reorders it. Deterministic in `seed` and the effort unless the budget
// ends first.
void replan_windows(const ScatterTable& table, StepDraft& step, const WindowEffort& effort,
                    std::uint64_t seed, const Budget& budget);

}  // namespace stowage
