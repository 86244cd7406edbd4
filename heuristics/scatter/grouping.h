// Groups for one micro-batch: which degrees, and who goes where.
//
// The partitions of N devices into groups are few when they are counted per degree instead of
// named (1828 for 64 devices and powers of two), so they are enumerated; partitions that cannot
// beat the best makespan by area, memory or their longest sequences are cut without being tried.
// What is left gets longest-processing-time and move/swap.
//
//   auto batch = group_micro_batch(table, positions, {.mixes = 200});
#pragma once

#include <optional>
#include <span>

#include "heuristics/scatter/draft.h"

namespace stowage {

struct GroupingEffort {
  int mixes = 2000;        // partitions tried with LPT at most
  int polish_rounds = 64;  // move/swap steps per promising partition
};

// Where annealing finds the degrees of the groups itself, a start needs only their rough shape.
inline constexpr GroupingEffort kQuickGrouping{.mixes = 0, .polish_rounds = 8};

// A lower estimate of the makespan of `positions` alone (ascending), from area and the longest
// sequence, in ms; infinite if the tokens exceed N C or a sequence fits no group.
Ms grouping_estimate(const ScatterTable& table, std::span<const int> positions);

// The best grouping found, or nothing if none was: with very tight memory a grouping may exist
// that this heuristic misses. Requires `positions` ascending. Empty groups may remain in it.
std::optional<MicroBatchDraft> group_micro_batch(const ScatterTable& table,
                                                 std::span<const int> positions,
                                                 const GroupingEffort& effort = {});

}  // namespace stowage
