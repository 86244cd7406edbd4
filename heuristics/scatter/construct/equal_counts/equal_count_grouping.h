// Micro-batches whose groups hold equal numbers of sequences, as rules.equal_sequences requires.
//
// n sequences in groups of c make n / c groups, so c is a divisor of n. Each divisor is tried
// twice: with groups of similar lengths, and with long and short sequences mixed. Then each group
// gets a degree, such that the makespan is least. Moves of single sequences would break the rule,
// swaps keep it.
//
//   auto batch = equal_count_grouping(table, positions, 64);
#pragma once

#include <optional>
#include <span>

#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"

namespace stowage {

// Returns true if all groups that hold a sequence hold equal numbers of sequences.
bool has_equal_groups(const WorkingMicroBatch& batch);

// Returns the best grouping found, with at most `polish_rounds` swaps. If the rules forbid idle
// ranks, prefers groupings that cover all devices. Returns nullopt if no grouping was found. A
// single sequence that fits a configuration is always grouped. Requires ascending `positions`, at
// least one, and a table with one recomputation mode.
std::optional<WorkingMicroBatch> equal_count_grouping(const ScatterTable& table,
                                                      std::span<const int> positions,
                                                      int polish_rounds);

// Returns a step of consecutive chunks, longest first, each in groups of consecutive sequences. The
// step is a shortest path over the cuts, where the counts of groups and of sequences per group are
// round numbers. Returns nullopt if no such step exists, if the step has too many sequences, or if
// the budget ends first. Requires a table with one recomputation mode.
std::optional<WorkingStep> even_chunks(const ScatterTable& table, const Budget& budget);

}  // namespace stowage
