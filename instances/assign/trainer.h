// The part of an assign plan that a training loop needs: see instances/trainer/step.h.
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

// Returns the step that a plan describes. A replica of a scheme gets tp * pp consecutive ranks,
// stage after stage. Replicas of the largest tp come first, so that with powers of two no
// tensor-parallel group crosses a node. The rows of a replica are its micro-batches. Requires a
// plan for which verify() returns no violations. Errors: E604 if a row, an id or the whole step
// does not fit a trainer file, E345 for rows of chunks.
Result<TrainerStep> trainer_step(const AssignInstance& instance, const AssignPlan& plan);

}  // namespace stowage
