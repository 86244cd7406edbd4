// Times every method's plan on this machine, for `compare --measure`.
//
//   Result<MeasuredStep> here = measured_step(console, instance, {.work_flop = 5e10}, budget);
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
#include "kernels/run/timing/calibration.h"
#include "kernels/run/timing/plan_timing.h"

namespace stowage {

struct MeasureOptions {
  std::optional<std::int64_t> scale;  // divisor of the lengths; default by work_flop
  double work_flop = 5e10;            // work of every plan in FLOP
  int rounds = 5;
  std::uint64_t seed = 0;
};

// A step converted to this machine (kernels/run/scaled_instance.h), and the calibration and block
// used for it.
struct MeasuredStep {
  ScatterInstance step;
  std::int64_t scale = 1;
  kernels::BlockShape block;
  kernels::Calibration calibration;
  MeasureOptions options;
};

// Calibrates for the degrees of the instance and scales it down. Errors: those of block_for() and
// calibrate_here(); E001 if the budget ended the calibration.
Result<MeasuredStep> measured_step(Console& console, const ScatterInstance& instance,
                                   const MeasureOptions& options, Budget& budget);

struct PlansMeasured {
  std::vector<std::optional<kernels::PlanTiming>> timings;  // nullopt for a plan that was not timed
  // Mean of |predicted - measured| / measured over the timed plans; nullopt without timed plans.
  std::optional<double> mean_error;
  // Relative difference of the slowest plan's time to the fastest plan's, 0.05 for 5 %; nullopt for
  // fewer than two plans. If the mean error is as large, the order of the plans is undecided.
  std::optional<double> spread;
  // Number of pairs of timed plans, and of pairs whose predictions differ by less than the mean
  // error. The predictions do not decide which plan of such a pair is faster. Of the other pairs,
  // agreed_pairs were measured in the predicted order.
  std::int64_t pairs = 0;
  std::int64_t undecided_pairs = 0;
  std::int64_t agreed_pairs = 0;
  // Spearman's correlation of predicted and measured times; nullopt for fewer than two timed plans
  // or if all are equally fast.
  std::optional<double> rank_correlation;
};

// Times the plans of here.step in turn; null plans are skipped.
PlansMeasured time_here(Console& console, const MeasuredStep& here,
                        const std::vector<const ScatterPlan*>& plans, Budget& budget);

// Prints the errors of the predictions.
void tell_measured(Console& console, const PlansMeasured& measured);

// Writes the member "measured" of a comparison.
void write_measured(JsonWriter& json, const MeasuredStep& here, const PlansMeasured& measured);

}  // namespace stowage
