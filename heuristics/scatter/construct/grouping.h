// Groups one micro-batch: chooses degrees and assigns sequences to groups.
//
// Partitions of N devices into groups are counted per degree (1828 for 64 devices and powers of
// two), so they can be enumerated. A partition is cut if area, memory or the longest sequences
// prove that it cannot beat the best makespan. The others get longest processing time and then
// moves and swaps.
//
//   auto batch = group_micro_batch(table, positions, {.mixes = 200});
#pragma once

#include <optional>
#include <span>

#include "heuristics/scatter/working_plan.h"

namespace stowage {

struct GroupingEffort {
  int mixes = 2000;        // partitions tried with LPT, at most
  int polish_rounds = 64;  // moves and swaps per promising partition, at most
};

// The effort for starts of the annealing, which chooses the degrees itself.
inline constexpr GroupingEffort kQuickGrouping{.mixes = 0, .polish_rounds = 8};

// Returns an estimate of the makespan in ms of `positions` (ascending), from area and the longest
// sequence. The true makespan is rarely less. Returns infinity if the tokens exceed N C or a
// sequence fits no group.
Ms grouping_estimate(const ScatterTable& table, std::span<const int> positions);

// Returns the best grouping found, or nullopt if none was found. With very tight memory, this
// heuristic may miss an existing grouping. Requires ascending `positions`. The result may contain
// empty groups.
std::optional<WorkingMicroBatch> group_micro_batch(const ScatterTable& table,
                                                   std::span<const int> positions,
                                                   const GroupingEffort& effort = {});

}  // namespace stowage
