// Multi-start for a whole step: starts from all chunkings compete in rounds of annealing.
//
//   WorkingStep step = *joint(table, {.moves = 400000}, seed, budget);
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/scatter/construct/chunking.h"
#include "heuristics/scatter/construct/grouping.h"
#include "heuristics/scatter/params.h"
#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"

namespace stowage {

// Returns the number of annealing moves for a whole step at `moves` per sequence, see JointEffort.
std::int64_t anneal_steps(const ScatterTable& table, double moves);

struct JointEffort {
  // Annealing moves per sequence, of all starts together, in steps of 128 to 512 sequences. Smaller
  // steps get fewer moves per sequence, since they have fewer neighbours. Larger steps get fewer
  // per sequence too, so that time grows little faster than the step.
  double moves = 480;
  int path_rounds = 10;  // pricing rounds of shortest_path_chunks()
  MultistartParams race = {};
  // If not null, receives steps other than the result: each step that was the best one so far, and
  // those that left the race. They are valid unless repair is needed (improve/rule_repair.h).
  std::vector<WorkingStep>* others = nullptr;
};

// Plans large steps as copies of a smaller step, which is then annealed. Otherwise:
// 1. Makes starts by homogeneous degrees, shortest paths, token-balanced and spread chunks.
// 2. Packs the sequences anew for the makespans of the best starts.
// 3. Anneals the best of all these in rounds. After each round the better half survives.
// 4. Replans the wasteful micro-batches of the last two starts and of the winner
// (heuristics/scatter/improve/batch_lns.h). Begins with a valid step, so that a budget that ends at
// once leaves a plan. Returns nullopt if no homogeneous degree holds the longest sequence.
// Deterministic in `seed` unless the budget ends first.
std::optional<WorkingStep> joint(const ScatterTable& table, const JointEffort& effort,
                                 std::uint64_t seed, const Budget& budget);

}  // namespace stowage
