// Groups opened on demand under a time target: the scatter form of MULTIFIT (Coffman, Garey and
// Johnson 1978), which packs bins for a guessed makespan and bisects the guess. The same for a
// whole step: one target per micro-batch.
//
//   const std::vector<BatchTarget> targets{{8000}, {5000}, {2000}};
//   auto step = fit_profile(table, targets, {}, as_planned, seed, budget);
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heuristics/scatter/draft.h"
#include "instances/budget.h"

namespace stowage {

// Packs `positions` (ascending) so that no group exceeds a target: each sequence tries its degrees
// from the least device-time to the most, at each the first open group with room, or a new one
// while devices last. In steps of few sequences, and where nothing else works, long ones that find
// no room have two groups united into one of twice the degree. `rounds` bisections look for the
// least target that works, between `lower` and the makespan of the best packing found. Nothing if
// no target up to `upper` works. One packing takes O(lengths levels log groups + groups) as a rule.
std::optional<MicroBatchDraft> multifit(const ScatterTable& table, std::span<const int> positions,
                                        Ms lower, Ms upper, int rounds);

// What is asked of a micro-batch: how long it lasts at most, and which way it recomputes.
struct BatchTarget {
  Ms makespan = 0;
  int way = 0;  // as ScatterTable::way() counts
};

// What the micro-batches of the step are, the longest first.
std::vector<BatchTarget> targets_of(const ScatterTable& table, const StepDraft& step);

struct ProfileEffort {
  int bisections = 8;   // of a factor of all makespans
  int proposals = 100;  // of makespans that shrink and others that grow
  // In steps of few sequences groups unite before a packing without fails, and some proposals draw
  // all makespans anew.
  bool thorough = false;
};

// Returns the step that a plan is made of, and its time: as_planned() of heuristics/scatter/obey.h,
// which calls functions that call multifit().
using AsPlanned = TimedDraft (*)(const ScatterTable& table, StepDraft packed);

// Packs the whole step into micro-batches that are about as `targets`: as above, with
// the groups of all micro-batches to choose from, the shortest or the longest micro-batch first;
// some packings would rather fill a group that wastes device-time than open another. Looks for the
// least common factor that works, then lets one makespan after another shrink, sometimes at the
// cost of a smaller gain elsewhere, or recompute in another way, as long as everything fits.
// Packings are compared by the steps that `planned` makes of them; the best of these steps is
// returned. Nothing if no factor up to 2.5 works, or if no packing found keeps the rules.
// Deterministic in `seed` unless the budget ends first.
// O(lengths micro-batches levels) per packing as a rule, and `planned` for those that may be best.
std::optional<StepDraft> fit_profile(const ScatterTable& table,
                                     std::span<const BatchTarget> targets,
                                     const ProfileEffort& effort, AsPlanned planned,
                                     std::uint64_t seed, const Budget& budget);

}  // namespace stowage
