// A step of a strategy on all its ranks, put together: what each sequence came to, the gradient of
// each layer, and what every rank needed.
//
//   const StrategyStep step = run_on_threads(task);
//   if (step.error) complain(step.error->message);
//   step.y[3];                       // of sequence 3
//
// Under MPI rank 0 of the world calls collect_step() with the others beside it. The results are the
// same bits. Thread safety: functions of their arguments alone.
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
  std::vector<std::vector<float>> y, dx;       // of each sequence, (length, hidden)
  std::vector<BlockWeights<float>> gradients;  // of each layer of the model
  std::vector<float> head_gradient;            // (hidden, vocabulary)
  double loss = 0;                             // where there is a head
  // Of a replica, by micro-batch, by part of the model: the busiest of its ranks.
  std::vector<std::vector<std::vector<PassSeconds>>> seconds;
  double exchange_s = 0;                // of the rank that summed gradients the longest
  std::vector<Bytes> high_water, left;  // by rank
  std::optional<RankError> error;       // set: all else is meaningless
};

// Requires check(task) to be empty. Throws where a rank fails or its budget, which may be null, is
// exhausted; the result is rank 0's, elsewhere nothing is in it.
StrategyStep collect_step(Communicator& world, const StrategyTask& task,
                          const Budget* budget = nullptr);

// With threads as ranks, which all look at the budget.
StrategyStep run_on_threads(const StrategyTask& task, const Budget* budget = nullptr);

}  // namespace stowage::kernels
