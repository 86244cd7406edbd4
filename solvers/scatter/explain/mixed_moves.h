// Moves and swaps of sequences between rows of mixed micro-batches
// (instances/scatter/cost/mixed.h).
#pragma once

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "solvers/explain/explanation.h"

namespace stowage {

// Tries each sequence of a shared row, and of the longest own row of a micro-batch, in every other
// row, alone or in exchange for one of its sequences. Returns the best of all. Requires
// ScatterInstance::mixed and a plan that the verifier accepts.
Moves mixed_moves(const ScatterInstance& instance, const ScatterPlan& plan);

}  // namespace stowage
