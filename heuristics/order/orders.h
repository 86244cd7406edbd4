// Orders that one pass over the graph computes.
//
//   const std::vector<int> order = list_order(table);
//   const Bytes peak = peak_of(table, order);     // instances/order/memory/running_memory.h
//
// If a rule leaves a choice, each of these orders takes the operator with the smallest index.
#pragma once

#include <span>
#include <vector>

#include "instances/order/planning_table.h"

namespace stowage {

// Returns the order that runs the ready operator with the least growth of live memory next. Ties go
// to the operator whose results have the most readers. O(E log n). Source: XLA, ListScheduler of
// hlo_memory_scheduler.cc.
std::vector<int> list_order(const OrderTable& table);

// Returns a depth-first order: each operator comes right after its predecessors, starting from the
// operators without successors. Predecessors whose subgraph has the most additional readers come
// first, then those with the most bytes. O(E log n). Source: XLA, DFSMemoryScheduler of
// hlo_memory_scheduler.cc.
std::vector<int> depth_first_order(const OrderTable& table);

// Returns the order in which operators become ready (first in, first out). O(E). Source: the
// executors of data-flow runtimes (TensorFlow's ready queue).
std::vector<int> online_order(const OrderTable& table);

// Returns `base` with early commits [OC1]. An operator commits, which means that it runs as soon as
// it is ready, if two conditions hold: it does not raise the live bytes, and its step needs no more
// than the peak so far or than every order's peak. O(E log n).
std::vector<int> commit_order(const OrderTable& table, std::span<const int> base);

}  // namespace stowage
