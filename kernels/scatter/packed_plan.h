// A scatter plan's groups as packed batches: a part is a micro-batch.
#pragma once

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "kernels/run/packed_plan.h"

namespace stowage {

// `plan` must outlive the result, which refers to its vectors.
kernels::PackedPlan packed_plan(const ScatterInstance& instance, const ScatterPlan& plan);

}  // namespace stowage
