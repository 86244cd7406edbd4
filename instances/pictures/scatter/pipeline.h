// Draws a step in a pipeline: the stages downwards, time to the right.
//
// Every micro-batch passes through the stages forward and backward under the 1F1B schedule that
// run_pipeline() simulates, each for its makespan on each stage, all to scale. Grey is bubble.
#pragma once

#include "instances/pictures/drawing/panel.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

// Requires a plan for which verify() returns no violations.
Picture scatter_pipeline(const ScatterInstance& instance, const ScatterPlan& plan);

}  // namespace stowage
