// Executes one rank of a strategy: its passes in order, its messages to the neighbouring stages,
// and the sum of its gradients.
//
//   const RankStep step = run_strategy_rank(world, task);     // on all task.ranks() ranks
//   step.y.front();                  // of the first micro-batch, on ranks of the last stage
//
// Activations travel forward and gradients backward as messages (ranks/communicator.h). Sending
// does not block, so an order of passes without circular dependencies cannot deadlock. The weight
// gradients are summed over dp and cp at the end. The loss is that of
// block/operation/vocabulary_head.h, computed in chunks of tokens right before the backward pass.
// Without a vocabulary it is that of run/executor.h: the sum over all tokens of dot(output, u),
// where u is a fixed pseudo-random vector of the token. The step contains no embedding and no
// optimizer step. If a rank throws, the other ranks leave. A rank with a budget checks it before
// each layer and each chunk of logits.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/budget.h"
#include "kernels/block/block_weights.h"
#include "kernels/ranks/communicator.h"
#include "kernels/strategy/task.h"

namespace stowage::kernels {

// CPU seconds of one pass on this rank's thread; they include computing and copying, not waiting.
struct PassSeconds {
  double forward = 0;
  double backward = 0;
};

struct RankStep {
  // Values by micro-batch, of this rank's tokens (tokens, hidden): outputs in the last stage,
  // gradients of the inputs in the first stage, and empty in other stages.
  std::vector<std::vector<float>> y, dx;
  // its shards of the gradients of its layers, chunk by chunk
  std::vector<BlockWeights<float>> gradients;
  std::vector<float> head_gradient;               // gradient of its columns, in the last stage
  double loss = 0;                                // loss of its tokens, on a rank with a head
  std::vector<std::vector<PassSeconds>> seconds;  // [micro-batch][chunk]
  double exchange_s = 0;                          // CPU seconds of summing the gradients
  Bytes high_water = 0;                           // peak bytes of activations
  Bytes left = 0;                                 // bytes of activations after the step
};

// A collective call of the task's number of ranks. check(task) must be empty. `budget` may be null,
// and all threads of a process may share it. Throws std::logic_error if the order has a backward
// pass without a forward pass before it, and std::runtime_error once the budget is exhausted.
RankStep run_strategy_rank(Communicator& world, const StrategyTask& task, const Budget* budget);

}  // namespace stowage::kernels
