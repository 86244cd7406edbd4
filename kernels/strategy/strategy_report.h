// Runs a strategy and compares it with a reference rank that computes every sequence alone.
//
//   StrategyReport report = execute_strategy(task, run_on_threads, {}, nullptr);
//   if (!report.passed()) complain(report.problems.list());
//
// The reference rank runs all layers of each sequence by block/program/block_program.h and sums the
// gradients. It has no stages, recomputation, micro-batches or other ranks. The memory is compared
// with stage_memory.h, which computes it from a table. A rank's peak must equal, to the byte, the
// peak of its order of passes. It must not exceed the rows M2 and M6 of
// docs/reference/strategy.md for the heaviest micro-batch. Thread safety: the functions depend
// only on their arguments.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "instances/strategy/instance.h"
#include "instances/units.h"
#include "kernels/problems.h"
#include "kernels/run/executor.h"
#include "kernels/strategy/strategy_step.h"
#include "kernels/strategy/task.h"

namespace stowage::kernels {

struct StrategyExecution {
  double tolerance = 1e-5;  // limit of relative errors
  int repeats = 1;          // timed runs, at least 1; the fastest run of each pass counts
};

// The function that runs a task: run_on_threads(), or run_on_processes() with a pool. An exhausted
// budget ends the step with an error; the budget may be null.
using StrategyRunner = std::function<StrategyStep(const StrategyTask&, const Budget*)>;

// The measurements of a stage, from its rank with the largest peak.
struct StageMeasurement {
  int layers = 0;
  StrategyRecompute recompute = StrategyRecompute::none;
  double in_flight = 0;  // number of micro-batches, M2
  Bytes planned = 0;     // bytes if all micro-batches in flight are as heavy as the heaviest
  Bytes counted = 0;     // bytes computed for the order of the passes
  Bytes high_water = 0;  // measured bytes
  // seconds of all its passes: of each pass the busiest rank, of all replicas the busiest
  double forward_s = 0;
  double backward_s = 0;
};

struct StrategyReport {
  std::vector<StageMeasurement> stages;
  TensorCheck output;           // per sequence
  TensorCheck input_gradient;   // per sequence
  TensorCheck weight_gradient;  // per layer and weight, named as "layer 3 query"
  double loss = 0;              // as in strategy_rank.h, summed in double
  double reference_loss = 0;    // loss of the reference rank
  double loss_error = 0;        // error relative to the sum of the absolute losses of the sequences
  Problems problems;
  bool complete = false;  // false if the budget was exhausted; then nothing was compared
  StopReason stopped_by = StopReason::none;
  // Seconds of the passes in the order of the plan if each rank had a core of its own
  // (instances/pipeline/passes.h), plus the sums of gradients. A pass takes the time of its busiest
  // rank. nullopt if a rank failed.
  std::optional<double> critical_path_s;
  // Seconds by T10 of docs/reference/strategy.md, with each stage's mean micro-batch.
  std::optional<double> formula_s;
  double exchange_s = 0;  // seconds of the sums of gradients, which both times contain

  bool passed() const;
};

// Compares an executed step. Requires check(task) to be empty. `budget` may be null; the reference
// rank checks it between the operators of its layers.
StrategyReport judge_step(const StrategyTask& task, const StrategyStep& step,
                          const StrategyExecution& execution, const Budget* budget = nullptr);

// Runs and compares within the budget, which may be null.
StrategyReport execute_strategy(const StrategyTask& task, const StrategyRunner& run,
                                const StrategyExecution& execution, const Budget* budget);

}  // namespace stowage::kernels
