// MULTIFIT for a micro-batch (Coffman, Garey and Johnson 1978): packs groups for a guessed
// makespan, opens groups on demand, and bisects the guess. fit_profile() does the same for a whole
// step, with one guessed makespan per micro-batch.
//
//   const std::vector<BatchTarget> targets{{8000}, {5000}, {2000}};
//   auto step = fit_profile(table, targets, {}, as_planned, seed, budget);
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heuristics/scatter/construct/multifit/batch_target.h"
#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"

namespace stowage {

// Packs `positions` (ascending) such that no group exceeds a target makespan. Each sequence tries
// its degrees from the least device-time to the most. At each degree it goes to the first open
// group with room, or to a new group if devices are left.
// If a long sequence finds no room in a step of few sequences, two groups are united into one of
// twice the degree.
// `rounds` bisections look for the least feasible target between `lower` and the makespan of the
// best packing found. Returns nullopt if no target up to `upper` is feasible. One packing usually
// takes O(lengths configurations log groups + groups).
std::optional<WorkingMicroBatch> multifit(const ScatterTable& table, std::span<const int> positions,
                                          Ms lower, Ms upper, int rounds);

// Returns the makespans and recomputation modes of the micro-batches, longest first.
std::vector<BatchTarget> targets_of(const ScatterTable& table, const WorkingStep& step);

struct ProfileEffort {
  int bisections = 8;   // of the common factor of all makespans
  int proposals = 100;  // of changed makespans: some shrink, others grow
  // In steps of few sequences only: tries uniting groups before it accepts that a packing fails,
  // and draws all makespans anew in some proposals.
  bool thorough = false;
};

// Returns the step that a plan is made of, and its time in ms. The callers pass as_planned() of
// heuristics/scatter/improve/rule_repair.h, since that header depends on multifit().
using AsPlanned = TimedWorkingStep (*)(const ScatterTable& table, WorkingStep packed);

// Packs the whole step into micro-batches of about the makespans `targets`. The packing is that of
// multifit(), but a sequence may choose among the groups of all micro-batches, the shortest or the
// longest micro-batch first. Some packing rules prefer an open group that wastes device-time to a
// new group.
// First searches the least common factor of all makespans that is feasible. Then shrinks one
// makespan after another, or changes its recomputation mode, as long as everything fits. Sometimes
// another makespan grows by less in return.
// Packings are compared by the steps that `planned` makes of them, and the best of these steps is
// returned. Returns nullopt if no factor up to 2.5 is feasible, or if no packing found keeps the
// rules. Deterministic in `seed` unless the budget ends first. Usually O(lengths micro-batches
// configurations) per packing, and a call of `planned` for each packing that may be the best.
std::optional<WorkingStep> fit_profile(const ScatterTable& table,
                                       std::span<const BatchTarget> targets,
                                       const ProfileEffort& effort, AsPlanned planned,
                                       std::uint64_t seed, const Budget& budget);

// Returns the factor by which packings of a table of many degrees take longer than those of 16
// configurations. 1 for other tables.
double packing_slowdown(const ScatterTable& table);

}  // namespace stowage
