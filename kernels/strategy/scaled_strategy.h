// Converts a strategy plan to a task that this machine can execute. The task has the same parallel
// degrees, stages and recomputation, a small model and short sequences.
//
//   ScaledStrategy scaled = scale_strategy(instance, plan, {.max_work_flop = 5e9});
//   for (const std::string& problem : scaled.problems) complain(problem);
//   run_on_threads(scaled.task);
//
//   layers     divided by the smallest number that leaves at most 16 layers, or one per chunk, and
//              rounded up: stages of 7, 9, 9, 7 layers become stages of 4, 5, 5, 4; further halved
//              if the weights are too large with the narrowest heads
//   widths     four heads, or the number that tp cp needs, of 16 channels; fewer channels if the
//              weights of all ranks need more than 1 GiB; keys and feed-forward in proportion
//   head       width in proportion, at most 4096; the plan's number of chunks of logits
//   lengths    divided by `scale`, rounded up
//   sequences  distributed over the rows of micro-batches and replicas, longest first, in
//              alternating direction
//
// `notes` lists the features of the model that the executed block lacks. Thread safety: the
// functions depend only on their arguments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "kernels/strategy/task.h"

namespace stowage::kernels {

struct StrategyScale {
  // Divisor of the lengths. 0 selects the smallest scale that keeps the work within max_work_flop,
  // or leaves one token per sequence.
  std::int64_t scale = 0;
  double max_work_flop = 1e10;
  std::uint64_t seed = 0;
};

struct ScaledStrategy {
  StrategyTask task;
  std::int64_t scale = 1;
  std::int64_t layer_scale = 1;
  double work_flop = 0;               // of forward and backward, without recomputation
  std::vector<std::string> notes;     // deviations from the plan in the execution
  std::vector<std::string> problems;  // reasons why the task cannot be executed
};

// Requires a plan that verify() accepts.
ScaledStrategy scale_strategy(const StrategyInstance& instance, const StrategyPlan& plan,
                              const StrategyScale& wanted);

}  // namespace stowage::kernels
