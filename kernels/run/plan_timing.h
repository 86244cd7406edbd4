// How long plans really take: their packed batches run side by side, judged by the clock alone.
//
//   const std::vector<PackedPlan> plans = {packed_plan(step, ours), packed_plan(step, theirs)};
//   for (const PlanTiming& timing : time_plans(plans, {}, {}, nullptr)) print(timing.seconds);
//
// The executor (executor.h) asks whether a plan is computed rightly; this asks how fast, of several
// plans of one step in turn, so that a machine that slows down slows all of them. Every batch runs
// once a round, and the median of its runs counts (rounds.h). A step's seconds are its critical
// path: those it would take if every rank had a core of its own.
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
  std::uint64_t seed = 0;  // of tokens and weights
};

struct PlanTiming {
  double seconds = 0;                 // critical path, thread CPU seconds
  Ms predicted_ms = 0;                // the same of the plan's times
  double work_flop = 0;               // of all batches
  std::vector<double> batch_seconds;  // of each batch, in the order of the plan
  Problems problems;                  // what is wrong with the plan; then nothing is timed
  bool complete = false;              // every batch ran in at least one round
};

// `done` of `all` runs of a batch.
using TimingProgress = std::function<void(std::int64_t done, std::int64_t all)>;

// One timing for each plan. Lengths are run as they are (see shrunk_step.h). `budget` may be null.
std::vector<PlanTiming> time_plans(std::span<const PackedPlan> plans, const TimingOptions& options,
                                   const TimingProgress& progress, Budget* budget);

}  // namespace stowage::kernels
