// A whole step at once: starts from every chunking race under annealing.
//
//   StepDraft step = *joint(table, {.anneal_steps = 400000}, seed, budget);
#pragma once

#include <cstdint>
#include <optional>

#include "heuristics/scatter/chunking.h"
#include "heuristics/scatter/draft.h"
#include "heuristics/scatter/grouping.h"
#include "heuristics/scatter/params.h"
#include "instances/budget.h"

namespace stowage {

// Groups every chunk; a chunk that cannot be grouped is halved until its parts can. Nothing if the
// budget ends first. Requires every sequence to fit some level.
std::optional<StepDraft> group_chunks(const ScatterTable& table, const Chunks& chunks,
                                      const GroupingEffort& effort, const Budget& budget);

// Moves of annealing for a whole step, of so many for a sequence; see JointEffort.
std::int64_t anneal_steps(const ScatterTable& table, double moves);

struct JointEffort {
  // Annealing moves per sequence, of all starts together, in steps of 128 to 512 sequences. Smaller
  // steps have fewer moves to try; larger ones get fewer per sequence, so that time grows little
  // faster than the step.
  double moves = 480;
  int path_rounds = 10;  // of shortest_path_chunks
  MultistartParams race = {};
};

// Large steps are planned as copies of a smaller one, which is then annealed. Otherwise makes
// starts by homogeneous degrees, shortest path, token-balanced and spread chunks, packs the
// sequences anew for the makespans of the best, and anneals a few of all these in rounds from which
// the better half survives; the last two and the winner have their wasteful micro-batches planned
// anew (windows.h). Begins with something valid, so that a budget that ends at once leaves
// a plan. Nothing if no homogeneous degree holds the longest sequence. Deterministic in `seed`
// unless the budget ends first.
std::optional<StepDraft> joint(const ScatterTable& table, const JointEffort& effort,
                               std::uint64_t seed, const Budget& budget);

}  // namespace stowage
