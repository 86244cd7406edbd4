// Skrull's scheduling of long-context fine-tuning: sequences are local or sharded (arXiv
// 2505.19609, section 4).
//
// Published: of n micro-batches, each gets every n-th sequence by length. n is the least number for
// which all tokens fit. Each micro-batch places its sequences from the shortest to the longest: on
// the device with the least work if that device has room, else on the device with the most room,
// else sharded over all devices. If a device then lacks room, the longest sequences of the fullest
// device are sharded too. If the groups of a micro-batch share no device, local and sharded
// sequences have separate micro-batches, each with its fixed time. Local sequences are then placed
// from the longest on.
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
