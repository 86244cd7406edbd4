// Converts the groups of a scatter plan into packed batches. A part of the packed plan is a
// micro-batch.
#pragma once

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "kernels/run/packed_plan.h"

namespace stowage {

// The result refers to vectors of `plan`, which must outlive it.
kernels::PackedPlan packed_plan(const ScatterInstance& instance, const ScatterPlan& plan);

}  // namespace stowage
