// Measures the execution times of several plans of one step.
//
//   const std::vector<PackedPlan> plans = {packed_plan(step, ours), packed_plan(step, theirs)};
//   for (const PlanTiming& timing : time_plans(plans, {}, {}, nullptr)) print(timing.seconds);
//
// The executor (executor.h) checks results, and this file measures times. Every batch runs once per
// round, those of all plans in a new random order, and the time of a batch is freed of the slow and
// fast phases of the machine (timing_rounds.h). Equal batches of several plans are one. A step's
// time is its critical path, in seconds: the time if every rank had a core of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "instances/budget.h"
#include "kernels/block/block_weights.h"
#include "kernels/problems.h"
#include "kernels/run/packed_plan.h"

namespace stowage::kernels {

struct TimingOptions {
  BlockShape block;
  int rounds = 3;
  std::uint64_t seed = 0;  // seed of tokens and weights
};

struct PlanTiming {
  double seconds = 0;                 // critical path, in thread CPU seconds
  Ms predicted_ms = 0;                // critical path from the plan's times
  double work_flop = 0;               // sum over all batches
  std::vector<double> batch_seconds;  // time of each batch, in the order of the plan
  Problems problems;                  // errors of the plan; a plan with errors is not timed
  bool complete = false;              // true if every batch ran in at least one round
};

// Called with `done` of `all` runs of a batch.
using TimingProgress = std::function<void(std::int64_t done, std::int64_t all)>;

// Returns one timing per plan. Lengths are not scaled (see kernels/run/scaled_instance.h). `budget`
// may be null.
std::vector<PlanTiming> time_plans(std::span<const PackedPlan> plans, const TimingOptions& options,
                                   const TimingProgress& progress, Budget* budget);

}  // namespace stowage::kernels
