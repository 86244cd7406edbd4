// The oracle of scatter steps of mixed micro-batches (ScatterInstance::mixed): every division of
// the sequences into micro-batches, and in each every assignment to the shared row and to own rows.
#pragma once

#include <optional>

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

// Returns the optimal plan, or nullopt if some sequence fits no row. Requires at most 7 sequences.
std::optional<ScatterPlan> mixed_brute_force(const ScatterInstance& instance);

}  // namespace stowage
