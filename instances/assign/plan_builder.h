// Makes an assign plan from the choice of rows: fills in all fields that follow from it.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/budget.h"

namespace stowage {

// The choice of a planner for one replica: the ids of each row.
struct ReplicaChoice {
  int scheme = 0;  // index into AssignInstance::schemes
  std::vector<std::vector<std::int64_t>> rows;
};

// Computes tokens, cu_seqlens, the times of rows and replicas, and the objective. Replicas come in
// the order of the instance's schemes, inside a scheme from slowest to fastest. Replicas of the
// strategy without a choice come without rows. Rows enter the pipeline in the order that
// order_rows() (pipeline.h) finds; without stages, from slowest to fastest. The simulated time is
// that of this order. With an exhausted budget, the search of orders gets some milliseconds, and
// then takes the order from slowest to fastest, or the published one for chunks. Inside a row,
// sequences go from longest to shortest, ties by id. Rows without sequences are left out. If the
// instance asks for chunks, a row of one sequence of more than a chunk's size becomes the rows of
// its parts, which stay together. The caller sets the hash and the bound. Requires that every id is
// an index into instance.lengths, and no more choices of a scheme than the strategy has replicas.
AssignPlan compose_assign(const AssignInstance& instance, int strategy,
                          std::vector<ReplicaChoice> choices, const Budget& budget = Budget());

// Returns the end of the replica's pipeline with these rows in this order, in ms: under 1F1B, or
// under ChunkFlow's schedule if the instance asks for chunks. Requires rows of a plan that
// verifies.
Ms simulated_ms(const AssignInstance& instance, const Scheme& scheme,
                const std::vector<AssignRow>& rows);

}  // namespace stowage
