// Skrull's scheduling of long-context fine-tuning: sequences are local or sharded (arXiv
// 2505.19609, section 4).
//
// Published: micro-batches get every n-th sequence by length, with the least n whose tokens fit. In
// each, from the shortest sequence on: on the device with least work if it has room there, else on
// the device with most room, else sharded over all. If a device then lacks room, sequences on the
// fullest device are sharded instead.
// Where the groups of a micro-batch share no device, local and sharded sequences get separate
// micro-batches, each with its fixed time: local ones are placed from the longest on.
#pragma once

#include <optional>

#include "heuristics/scatter/working_plan.h"

namespace stowage {

// Uses the smallest and the largest configuration, in micro-batches of their own. Returns nullopt
// if the largest configuration cannot hold the longest sequence. O(K log K).
std::optional<WorkingStep> skrull(const ScatterTable& table);

// Mixes them in a micro-batch. Requires table.mixes(). O(K log K) for each number of micro-batches
// that is tried.
std::optional<WorkingStep> mixed_skrull(const ScatterTable& table);

}  // namespace stowage
