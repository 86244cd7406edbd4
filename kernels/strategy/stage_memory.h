// How many bytes of activations a rank of a strategy holds at its most, counted from the table of
// what the executed block keeps: what the run of strategy_rank.h must come to.
//
//   const StrategyMemory memory = strategy_memory(task, rank);
//   memory.planned;   // M2 of instances/strategy/README.md times the heaviest micro-batch
//   memory.counted;   // pass by pass, in the order of the task
//
// Of a layer and n of its micro-batch's tokens on the rank, in floats, with its part of heads and
// widths (h hidden, q and k of queries and keys, f of the feed-forward, N tokens of all ranks of
// cp, lse 2 N heads without cp):
//
//   none        n (4 h + 2 q + 2 k + 3 f + 2) + lse     x, norms, q k v o, a, gate up product
//   selective   n (2 h + 2 q + 2 k + 2 f) + lse         x, q k v o, a, gate up
//   full        n h                                     x
//
// and with cp what Ulysses exchanged, but for full. Beside what is kept, a pass works with its
// input and output, 2 n h, and with what ends within it. A head keeps the output of the last layer,
// n h, and works with its gradient and the logits of one chunk of tokens. Weights, their gradients
// and constants are not activations. Thread safety: functions of their arguments alone.
#pragma once

#include <cstdint>

#include "instances/units.h"
#include "kernels/strategy/task.h"

namespace stowage::kernels {

// What one layer needs of one micro-batch on one rank, in floats.
struct LayerMemory {
  std::int64_t kept = 0;      // between its passes
  std::int64_t forward = 0;   // at most, while its forward pass runs, kept included
  std::int64_t backward = 0;  // the same of its backward pass
  std::int64_t ends = 0;      // input and output of a chunk
  std::int64_t output = 0;    // of the last chunk of the model, kept for a head
  std::int64_t head = 0;      // at most, while the head runs: output, its gradient, logits
};
LayerMemory layer_memory(const StrategyTask& task, int rank, int micro_batch);

// The chunks of micro-batches that a stage holds at its most: M2, times v.
std::int64_t chunks_in_flight(const StrategyTask& task, int stage);

struct StrategyMemory {
  Bytes planned = 0;  // no order of equal micro-batches need be told: the heaviest counts
  Bytes counted = 0;  // of these micro-batches in this order
};

// Requires check(task) to be empty.
StrategyMemory strategy_memory(const StrategyTask& task, int rank);

}  // namespace stowage::kernels
