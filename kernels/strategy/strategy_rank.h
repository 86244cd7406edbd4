// One rank of a strategy: its passes in their order, what it sends to the stages beside it, and the
// sum of its gradients.
//
//   const RankStep step = run_strategy_rank(world, task);     // on all task.ranks() ranks
//   step.y.front();                  // of the first micro-batch, on ranks of the last stage
//
// Activations go forward and gradients backward as messages (ranks/communicator.h), so that no
// order of passes that leads to an end can make ranks wait for each other; the weight gradients are
// summed over dp and cp at the end. The loss is that of block/vocabulary_head.h, computed in chunks
// of tokens right before the backward pass; without a vocabulary that of run/executor.h, the sum
// over all tokens of dot(output, u), u a fixed pseudo-random vector of the token. No embedding is
// looked up and no optimizer step is made. A rank that throws lets the others leave. A rank that
// has a budget looks at it before each layer and each chunk of logits.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/budget.h"
#include "kernels/block/block_weights.h"
#include "kernels/ranks/communicator.h"
#include "kernels/strategy/task.h"

namespace stowage::kernels {

// CPU seconds of one pass of this rank's thread: computing and copying, not waiting.
struct PassSeconds {
  double forward = 0;
  double backward = 0;
};

struct RankStep {
  // By micro-batch, of this rank's tokens (tokens, hidden): outputs in the last stage, gradients of
  // the inputs in the first one, elsewhere empty.
  std::vector<std::vector<float>> y, dx;
  std::vector<BlockWeights<float>> gradients;     // of its layers, chunk by chunk: its shards
  std::vector<float> head_gradient;               // its columns, in the last stage
  double loss = 0;                                // of its tokens, where a head is
  std::vector<std::vector<PassSeconds>> seconds;  // [micro-batch][chunk]
  double exchange_s = 0;                          // CPU seconds of summing the gradients
  Bytes high_water = 0;                           // of activations
  Bytes left = 0;                                 // of activations, behind the step
};

// A collective call of as many ranks as check(task), which must be empty, says. `budget` may be
// null, and be that of all threads of a process. Throws std::logic_error for an order in which a
// backward pass has no forward pass, std::runtime_error once the budget is exhausted.
RankStep run_strategy_rank(Communicator& world, const StrategyTask& task, const Budget* budget);

}  // namespace stowage::kernels
