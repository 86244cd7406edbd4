// Draws an assign plan as pipelines: the stages of every replica downwards, time to the right.
//
// Each row of a replica passes through its stages forward and backward under the 1F1B schedule that
// run_pipeline() simulates, all to scale. Grey is bubble: stages that wait, and replicas that end
// before the slowest.
#pragma once

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/pictures/drawing/panel.h"
#include "instances/pictures/shown_bound.h"

namespace stowage {

// Draws the pipelines. Both functions require a plan for which verify() returns no violations.
Picture assign_pipelines(const AssignInstance& instance, const AssignPlan& plan,
                         const ShownBounds& bounds);

// Draws the lengths, each with the scheme of its replica.
Picture assign_lengths(const AssignInstance& instance, const AssignPlan& plan);

// Returns the share of the devices' time, until the end of the simulated schedule, in which they
// wait.
double bubble_share(const AssignInstance& instance, const AssignPlan& plan);

}  // namespace stowage
