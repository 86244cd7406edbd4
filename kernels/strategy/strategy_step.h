// A step of a strategy on all its ranks, with the collected results: the output of each sequence,
// the gradient of each layer, and the memory of every rank.
//
//   const StrategyStep step = run_on_threads(task);
//   if (step.error) complain(step.error->message);
//   step.y[3];                       // of sequence 3
//
// Under MPI all ranks of the task call collect_step(). Threads and processes give the same bits.
// Thread safety: the functions depend only on their arguments.
#pragma once

#include <optional>
#include <vector>

#include "kernels/block/block_weights.h"
#include "kernels/ranks/communicator.h"
#include "kernels/ranks/thread_ranks.h"
#include "kernels/strategy/strategy_rank.h"
#include "kernels/strategy/task.h"

namespace stowage::kernels {

struct StrategyStep {
  std::vector<std::vector<float>> y, dx;       // by sequence, (length, hidden)
  std::vector<BlockWeights<float>> gradients;  // by layer of the model
  std::vector<float> head_gradient;            // (hidden, vocabulary)
  double loss = 0;                             // 0 without a head
  // By replica, micro-batch and part of the model: the seconds of the busiest rank.
  std::vector<std::vector<std::vector<PassSeconds>>> seconds;
  double exchange_s = 0;                // seconds of the rank that summed gradients the longest
  std::vector<Bytes> high_water, left;  // bytes by rank
  std::optional<RankError> error;       // if set, the other members are meaningless
};

// Requires check(task) to be empty. Throws if a rank fails or if its budget, which may be null, is
// exhausted. Rank 0 returns the result, other ranks an empty step.
StrategyStep collect_step(Communicator& world, const StrategyTask& task,
                          const Budget* budget = nullptr);

// Runs the ranks as threads, which share the budget.
StrategyStep run_on_threads(const StrategyTask& task, const Budget* budget = nullptr);

}  // namespace stowage::kernels
