// Every method's plan timed on this machine: what `compare --measure` adds.
//
//   Result<MeasuredStep> here = measured_step(console, instance, {.work_flop = 3e10}, budget);
//   ... solve here->step by every method ...
//   const PlansMeasured timed = time_here(console, *here, plans, budget);
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/terminal/console.h"
#include "instances/budget.h"
#include "instances/json/writer.h"
#include "instances/result.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "kernels/run/calibration.h"
#include "kernels/run/plan_timing.h"

namespace stowage {

struct MeasureOptions {
  std::optional<std::int64_t> scale;  // lengths are divided by it; default by work_flop
  double work_flop = 3e10;            // of every plan
  int rounds = 3;
  std::uint64_t seed = 0;
};

// A step as this machine sees it (kernels/run/shrunk_step.h), and what that was made of.
struct MeasuredStep {
  ScatterInstance step;
  std::int64_t scale = 1;
  kernels::BlockShape block;
  kernels::Calibration calibration;
  MeasureOptions options;
};

// Calibrates for the degrees of the instance and shrinks it. Errors: those of block_for() and
// calibrate_here(); E001 if the budget ended first.
Result<MeasuredStep> measured_step(Console& console, const ScatterInstance& instance,
                                   const MeasureOptions& options, Budget& budget);

struct PlansMeasured {
  std::vector<std::optional<kernels::PlanTiming>> timings;  // nothing for a plan that was not timed
  // Mean of |predicted - measured| / measured over the timed plans; nothing without one.
  std::optional<double> mean_error;
  // How much longer the slowest plan took than the fastest, 0.05 for 5 %; nothing for fewer than
  // two. A mean error of that size or more leaves their order open.
  std::optional<double> spread;
  // Pairs of timed plans, and those whose predictions differ by less than the mean error: which of
  // the two is faster is not decided by them.
  std::int64_t pairs = 0;
  std::int64_t undecided_pairs = 0;
  // Spearman's, of predicted and measured; nothing where fewer than two plans were timed, or all of
  // them are equally fast.
  std::optional<double> rank_correlation;
};

// Times the plans of here.step in turn; null plans are left out.
PlansMeasured time_here(Console& console, const MeasuredStep& here,
                        const std::vector<const ScatterPlan*>& plans, Budget& budget);

// How far the predictions are off, to people.
void tell_measured(Console& console, const PlansMeasured& measured);

// The member "measured" of a comparison.
void write_measured(JsonWriter& json, const MeasuredStep& here, const PlansMeasured& measured);

}  // namespace stowage
