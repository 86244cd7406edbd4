// A scatter plan as a Gantt chart: ranks downwards, time to the right.
//
// Micro-batches follow one another; a group is a bar over its ranks for as long as it runs, cut
// into what is spent before the first sequence and a part for every sequence, all to scale. Grey is
// idle: ranks without a group, groups that wait for the slowest and, at the end, what fills and
// drains a pipeline.
#pragma once

#include "instances/pictures/drawing/panel.h"
#include "instances/pictures/shown_bound.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

// Both require a plan that verify() finds nothing wrong with.
Picture scatter_gantt(const ScatterInstance& instance, const ScatterPlan& plan,
                      const ShownBounds& bounds);

// The lengths with the degree each went to.
Picture scatter_lengths(const ScatterInstance& instance, const ScatterPlan& plan);

// The share of the ranks' time, until the end of the step, in which they have no group to run.
double idle_share(const ScatterInstance& instance, const ScatterPlan& plan);

// The share of the step in which the pipeline fills and drains; 0 with one stage.
double pipeline_share(const ScatterInstance& instance, const ScatterPlan& plan);

}  // namespace stowage
