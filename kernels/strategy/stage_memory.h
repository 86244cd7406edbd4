// The peak bytes of activations of a rank of a strategy, computed from the table below of the
// tensors that the executed block keeps. A run of strategy_rank.h must reach exactly this peak.
//
//   const StrategyMemory memory = strategy_memory(task, rank);
//   memory.planned;   // M2 of docs/reference/strategy.md times the heaviest micro-batch
//   memory.counted;   // pass by pass, in the order of the task
//
// The floats that a layer keeps, for n tokens of the micro-batch on the rank. The widths are those
// of the rank's part: h hidden, q and k queries and keys, f feed-forward. N is the number of tokens
// of all ranks of cp; lse is 2 N heads without cp:
//
//   none        n (4 h + 2 q + 2 k + 3 f + 2) + lse     x, norms, q k v o, a, gate up product
//   selective   n (2 h + 2 q + 2 k + 2 f) + lse         x, q k v o, a, gate up
//   full        n h                                     x
//
// With cp, `none` and `selective` also keep the arrays that Ulysses exchanged. A running pass needs
// in addition its input and output, 2 n h, and its temporary tensors. A head keeps the output of
// the last layer, n h, and needs its gradient and the logits of one chunk of tokens. Weights, their
// gradients and constants are not activations. Thread safety: the functions depend only on their
// arguments.
#pragma once

#include <cstdint>

#include "instances/units.h"
#include "kernels/strategy/task.h"

namespace stowage::kernels {

// The memory of one layer for one micro-batch on one rank, in floats.
struct LayerMemory {
  std::int64_t kept = 0;      // kept between the passes
  std::int64_t forward = 0;   // peak while its forward pass runs, including `kept`
  std::int64_t backward = 0;  // peak while its backward pass runs, including `kept`
  std::int64_t ends = 0;      // input and output of a chunk
  std::int64_t output = 0;    // output of the model's last chunk, kept for a head
  std::int64_t head = 0;      // peak while the head runs: output, its gradient, logits
};
LayerMemory layer_memory(const StrategyTask& task, int rank, int micro_batch);

// Returns the largest number of chunks of micro-batches that a stage holds: M2, times v.
std::int64_t chunks_in_flight(const StrategyTask& task, int stage);

struct StrategyMemory {
  Bytes planned = 0;  // bytes if all micro-batches are as heavy as the heaviest, for any order
  Bytes counted = 0;  // bytes for these micro-batches in this order
};

// Requires check(task) to be empty.
StrategyMemory strategy_memory(const StrategyTask& task, int rank);

}  // namespace stowage::kernels
