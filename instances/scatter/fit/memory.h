// What a device holds, from the peaks of measured rows.
#pragma once

#include <optional>
#include <span>

#include "instances/scatter/fit/cost_fit.h"
#include "instances/scatter/fit/sample.h"

namespace stowage {

// peak ~ states_mib + (activation_mib_per_token + keys and values) S / d + sequence_mib n, of S
// padded tokens in n sequences on d devices, as instances/scatter/README.md has it. Memory per
// sequence only if the rows show that it is not 0, keys and values only of rings and all-gathers.
// Nothing if too few rows have a peak.
std::optional<MemoryFit> fit_memory(std::span<const TimedRow> rows, const ScatterInstance& like);

}  // namespace stowage
