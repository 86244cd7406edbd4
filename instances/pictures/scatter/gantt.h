// Draws a scatter plan as a Gantt chart: ranks downwards, time to the right.
//
// Micro-batches follow one another. A group is a bar over its ranks for as long as it runs. The bar
// is cut into the time before the first sequence and a part for every sequence, all to scale. Grey
// is idle: ranks without a group, groups that wait for the slowest group and, at the end, the time
// in which a pipeline fills and drains.
#pragma once

#include "instances/pictures/drawing/panel.h"
#include "instances/pictures/shown_bound.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

// Draws the chart. Both functions require a plan for which verify() returns no violations.
Picture scatter_gantt(const ScatterInstance& instance, const ScatterPlan& plan,
                      const ShownBounds& bounds);

// Draws the lengths, each with the degree of its group.
Picture scatter_lengths(const ScatterInstance& instance, const ScatterPlan& plan);

// Returns the share of the ranks' time, until the end of the step, in which they have no group to
// run.
double idle_share(const ScatterInstance& instance, const ScatterPlan& plan);

// Returns the share of the step in which the pipeline fills and drains; 0 with one stage.
double pipeline_share(const ScatterInstance& instance, const ScatterPlan& plan);

}  // namespace stowage
