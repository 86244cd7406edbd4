// An assign plan's rows as packed batches: a part is a replica.
#pragma once

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "kernels/run/packed_plan.h"

namespace stowage {

// Of every replica's stages one is executed, with the row's whole
// block: they all do the same. `plan` must outlive the result, which refers to its vectors.
kernels::PackedPlan packed_plan(const AssignInstance& instance, const AssignPlan& plan);

}  // namespace stowage
