// The part of a scatter plan that a training loop needs: see instances/trainer/step.h.
//
//   const Result<TrainerStep> step = trainer_step(instance, plan);   // of a verified plan
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include "instances/result.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/trainer/step.h"

namespace stowage {

// Returns the step that a plan describes. The batch of a group runs on the group's ranks at once,
// each with a slice of the row. Requires a plan without violations. Error: E604 if a row, an id or
// the whole step does not fit a trainer file.
Result<TrainerStep> trainer_step(const ScatterInstance& instance, const ScatterPlan& plan);

}  // namespace stowage
