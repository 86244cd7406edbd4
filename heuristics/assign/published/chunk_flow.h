// The published construction of chunks (ChunkFlow, arXiv 2503.02356, section 4.1). The short
// sequences of the step are packed into chunks of one size, and the long ones are cut. The paper
// does not say how replicas share the chunks. Here each chunk goes to the replica that ends first,
// and the chunks of a sequence stay together.
#pragma once

#include <optional>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/budget.h"

namespace stowage {

// Returns the plan of the best strategy. Skips strategies with a scheme whose rows cannot hold a
// chunk. Returns nullopt if no strategy is left or the budget ends before the first plan. Requires
// an instance with a ChunkRule.
std::optional<AssignPlan> assign_chunk_flow(const AssignInstance& instance, const Budget& budget);

}  // namespace stowage
