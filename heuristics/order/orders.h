// Orders that take one pass over the graph.
//
//   const std::vector<int> order = list_order(table);
//   const Bytes peak = peak_of(table, order);     // instances/order/memory.h
//
// All of them take the operator that stands first in the list where a rule leaves a choice.
#pragma once

#include <span>
#include <vector>

#include "instances/order/table.h"

namespace stowage {

// Whatever of the ready operators frees most, less what it makes; then the one whose results have
// most readers. O(E log n). Source: XLA, ListScheduler of hlo_memory_scheduler.cc.
std::vector<int> list_order(const OrderTable& table);

// Operators with all they need before them, depth first, from those that nobody waits for; of what
// an operator needs, first what has most other readers below it, then the largest tensors. O(E log
// n). Source: XLA, DFSMemoryScheduler of hlo_memory_scheduler.cc.
std::vector<int> depth_first_order(const OrderTable& table);

// As operators become ready, first come, first served. O(E). Source: the executors of data-flow
// runtimes (TensorFlow's ready queue).
std::vector<int> online_order(const OrderTable& table);

// `base`, but an operator that does not raise what is live, and needs no more than the peak so far
// or any peak, runs as soon as it is ready [OC1]. O(E log n).
std::vector<int> commit_order(const OrderTable& table, std::span<const int> base);

}  // namespace stowage
