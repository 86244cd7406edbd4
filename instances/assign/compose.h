// From decisions to a plan: fills in everything about an assign plan that follows from who goes
// where.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/budget.h"

namespace stowage {

// A planner's whole decision about one replica: the ids of each row.
struct ReplicaChoice {
  int scheme = 0;  // index into AssignInstance::schemes
  std::vector<std::vector<std::int64_t>> rows;
};

// Computes tokens, cu_seqlens, the times of rows and replicas and the objective. Replicas come in
// the order of the instance's schemes, inside a scheme from slowest to fastest, and those of the
// strategy that no choice names come empty. Rows enter the pipeline in the order that order_rows
// (pipeline.h) finds for them, without stages from slowest to fastest; the simulated time is that
// of this order. A budget that is exhausted leaves the search some milliseconds, and then the order
// from slowest to fastest, of chunks the published one. Inside a row sequences stand from longest
// to shortest, ties by id. Rows without sequences are left out. Where the instance asks for chunks,
// a row of one sequence of more than a chunk's size becomes the rows of its parts, which stay
// together. Hash and bound are the caller's to set. Requires every id to be an index into
// instance.lengths and no more choices of a scheme than the strategy has replicas.
AssignPlan compose_assign(const AssignInstance& instance, int strategy,
                          std::vector<ReplicaChoice> choices, const Budget& budget = Budget());

// When the replica's pipeline is done with these rows in this order: 1F1B, or ChunkFlow's schedule
// where the instance asks for chunks. Requires rows of a plan that verifies.
Ms simulated_ms(const AssignInstance& instance, const Scheme& scheme,
                const std::vector<AssignRow>& rows);

}  // namespace stowage
