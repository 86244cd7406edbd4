// A strategy plan as a task that this machine can execute: the same class, stages and
// recomputation, a small model, short sequences.
//
//   ScaledStrategy scaled = scale_strategy(instance, plan, {.max_work_flop = 5e9});
//   for (const std::string& problem : scaled.problems) complain(problem);
//   run_on_threads(scaled.task);
//
//   layers     divided by the smallest number that leaves 16 or fewer, or one a chunk, rounded up:
//              stages of 7, 9, 9, 7 layers become stages of 4, 5, 5, 4; fewer where the narrowest
//              heads do not suffice for the weights
//   widths     four heads or as many as tp cp needs, of 16 channels, or of fewer where all ranks'
//              weights would need more than 1 GiB; keys and feed-forward in proportion
//   head       as wide in proportion, at most 4096; logits in as many chunks
//   lengths    divided by `scale`, rounded up
//   sequences  dealt to the rows of micro-batches and replicas, longest first, there and back
//
// What the model has that the executed block has not is said in `notes`. Thread safety: functions
// of their arguments alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "kernels/strategy/task.h"

namespace stowage::kernels {

struct StrategyScale {
  // 0: the smallest that keeps the work within max_work_flop, or leaves one token a sequence.
  std::int64_t scale = 0;
  double max_work_flop = 1e10;
  std::uint64_t seed = 0;
};

struct ScaledStrategy {
  StrategyTask task;
  std::int64_t scale = 1;
  std::int64_t layer_scale = 1;
  double work_flop = 0;               // of forward and backward, without what is repeated
  std::vector<std::string> notes;     // what is executed otherwise than planned
  std::vector<std::string> problems;  // why the task cannot be executed
};

// Requires a plan that verify() finds nothing wrong with.
ScaledStrategy scale_strategy(const StrategyInstance& instance, const StrategyPlan& plan,
                              const StrategyScale& wanted);

}  // namespace stowage::kernels
