// Converts the rows of an assign plan into packed batches. A part of the packed plan is a
// data-parallel replica.
#pragma once

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "kernels/run/packed_plan.h"

namespace stowage {

// The stages of a replica compute the same rows, so one stage of each replica is executed, with the
// row's whole block. The result refers to vectors of `plan`, which must outlive it.
kernels::PackedPlan packed_plan(const AssignInstance& instance, const AssignPlan& plan);

}  // namespace stowage
