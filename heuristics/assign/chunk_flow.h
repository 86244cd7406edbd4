// The published construction of chunks (ChunkFlow, arXiv 2503.02356, section 4.1): the whole step's
// short sequences packed into chunks of one size, the long ones cut. How chunks are shared among
// replicas is not published; here each goes to the replica that ends least, those of a sequence
// together.
#pragma once

#include <optional>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/budget.h"

namespace stowage {

// The best strategy's plan. Those with a scheme whose rows cannot hold a chunk are passed over;
// nothing if none is left or the budget ends before the first. Requires an instance that asks for
// chunks.
std::optional<AssignPlan> assign_chunk_flow(const AssignInstance& instance, const Budget& budget);

}  // namespace stowage
