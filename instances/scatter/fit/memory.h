// Fits the memory of a device to the peaks of measured rows.
#pragma once

#include <optional>
#include <span>

#include "instances/scatter/fit/cost_fit.h"
#include "instances/scatter/fit/sample.h"

namespace stowage {

// peak ~ states_mib + (activation_mib_per_token + keys and values) S / d + sequence_mib n, for S
// padded tokens in n sequences on d devices, as in docs/reference/scatter.md. Memory per sequence
// is fitted only if the rows show that it is not 0, keys and values only with rings and
// all-gathers. Returns nullopt if too few rows have a peak.
std::optional<MemoryFit> fit_memory(std::span<const TimedRow> rows, const ScatterInstance& like);

}  // namespace stowage
