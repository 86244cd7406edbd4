// Runs a strategy and compares it with one rank that computes every sequence alone.
//
//   StrategyReport report = execute_strategy(task, run_on_threads, {}, nullptr);
//   if (!report.passed()) complain(report.problems.list());
//
// The one rank runs all layers of each sequence by block/block_program.h and adds gradients up;
// layers, recomputation, micro-batches and ranks are nothing to it. Memory is compared with
// stage_memory.h, which counts it from a table: a rank must need what its order of passes makes
// necessary, to the byte, and no more than the rows M2 and M6 of instances/strategy/README.md give
// for the heaviest micro-batch. Thread safety: functions of their arguments alone.
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
  double tolerance = 1e-5;  // of relative errors
  int repeats = 1;          // timed runs, at least 1; the fastest of each pass counts
};

// What runs a task: run_on_threads(), or run_on_processes() with a pool.
// The budget, which may be null, ends the step with an error.
using StrategyRunner = std::function<StrategyStep(const StrategyTask&, const Budget*)>;

// The rank of a stage that needed the most.
struct StageMeasurement {
  int layers = 0;
  StrategyRecompute recompute = StrategyRecompute::none;
  double in_flight = 0;  // micro-batches, M2
  Bytes planned = 0;     // of the heaviest micro-batch so many times
  Bytes counted = 0;     // in the order of the passes
  Bytes high_water = 0;  // seen
  double forward_s = 0;  // of all its passes, the busiest rank of each; the busiest replica
  double backward_s = 0;
};

struct StrategyReport {
  std::vector<StageMeasurement> stages;
  TensorCheck output;           // per sequence
  TensorCheck input_gradient;   // per sequence
  TensorCheck weight_gradient;  // per layer and weight, named as "layer 3 query"
  double loss = 0;              // as in strategy_rank.h, summed in double
  double reference_loss = 0;    // of the one rank
  double loss_error = 0;        // relative to the sum of the sizes of the sequences' losses
  Problems problems;
  bool complete = false;  // false: the budget ran out, and nothing was compared
  StopReason stopped_by = StopReason::none;
  // How long the passes take in the order of the plan, each as long as it took its busiest rank,
  // were there a core for each rank (instances/pipeline/passes.h), and the sums of gradients
  // behind them. Nothing if a rank failed.
  std::optional<double> critical_path_s;
  // The same by T10 of instances/strategy/README.md, of each stage's mean micro-batch.
  std::optional<double> formula_s;
  double exchange_s = 0;  // of both, the sums of gradients

  bool passed() const;
};

// Requires check(task) to be empty. `budget` may be null; the one rank looks at it between the
// operators of its layers.
StrategyReport judge_step(const StrategyTask& task, const StrategyStep& step,
                          const StrategyExecution& execution, const Budget* budget = nullptr);

// Runs and judges within the budget, which may be null.
StrategyReport execute_strategy(const StrategyTask& task, const StrategyRunner& run,
                                const StrategyExecution& execution, const Budget* budget);

}  // namespace stowage::kernels
