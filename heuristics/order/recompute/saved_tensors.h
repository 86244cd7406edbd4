// The tensors that an order saves across one of its steps, as a minimum cut: the fewest bytes from
// which every tensor that is needed behind the step can be made again.
//
// The cut separates what cannot be made again from what is needed behind the step. Each tensor is
// an arc with its bytes, and an operator that runs again needs all tensors that it touches. A
// tensor on the arcs of the cut is saved; every other tensor that is needed behind the step is made
// again right before its next use. Operators that take longer than a limit do not run again, so
// that the cut does not trade a long run for a few bytes. Source: the min-cut partitioner of
// functorch (He and Yu, Transcending runtime-memory tradeoffs in checkpointing by being fusion
// aware, MLSys 2023).
//
//   const std::vector<int> steps = with_saved_tensors(table, order, split, longest_ms);
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "instances/order/planning_table.h"
#include "instances/units.h"

namespace stowage {

// Returns `order`, in which every operator runs once, with the further runs behind its first
// `split` steps. An operator runs again only if the instance allows it, its time is at most
// `longest_ms`, and its result does not depend on an update. O(V^2 E) at worst, near linear in
// practice.
std::vector<int> with_saved_tensors(const OrderTable& table, std::span<const int> order,
                                    std::size_t split, Ms longest_ms);

}  // namespace stowage
