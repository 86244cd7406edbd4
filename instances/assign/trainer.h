// What a training loop needs of an assign plan: see instances/trainer/step.h.
//
//   const Result<TrainerStep> step = trainer_step(instance, plan);   // of a verified plan
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/result.h"
#include "instances/trainer/step.h"

namespace stowage {

// The step that a plan describes: a replica of a scheme gets tp * pp consecutive ranks, stage after
// stage, replicas of the largest tp first (so that with powers of two no tensor-parallel group
// straddles a node), and its rows are its micro-batches. Requires a plan that verify() has nothing
// to say about. Errors: E604 when a row, an id or the whole step does not fit a trainer file, E345
// for rows of chunks.
Result<TrainerStep> trainer_step(const AssignInstance& instance, const AssignPlan& plan);

}  // namespace stowage
