// The outputs that take the memory of tensors which end at their operator.
//
//   for (const OrderReuse& its : reuses_of(table, op, ends_here)) saved += table.size(its.tensor);
//   plan.in_place = reuses_of(table, order);
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "instances/order/plan.h"
#include "instances/order/planning_table.h"

namespace stowage {

// Returns the outputs of an operator that take the memory of a tensor in table.in_place(op) for which
// ends(tensor) holds. Each output, in ascending order, takes that of the first tensor of its size
// that is left. As only equal sizes match, no other choice saves more bytes.
template <class Ends>
std::vector<OrderReuse> reuses_of(const OrderTable& table, int op, const Ends& ends) {
  std::vector<OrderReuse> reuses;
  if (table.in_place(op).empty()) return reuses;
  std::vector<int> left;
  for (const int t : table.in_place(op)) {
    if (ends(t)) left.push_back(t);
  }
  for (const int made : table.written(op)) {
    const auto on = std::ranges::find(left, table.size(made), [&](int t) { return table.size(t); });
    if (on == left.end()) continue;
    reuses.push_back({.tensor = made, .on = *on});
    left.erase(on);
  }
  return reuses;
}

// Returns the outputs of all operators that take the memory of other tensors in an order that has
// each operator once; in the order of their steps.
std::vector<OrderReuse> reuses_of(const OrderTable& table, std::span<const int> order);

// Returns, by operator, the bytes that it adds to the live memory while it runs: its outputs and its
// workspace, less the outputs that take the memory of other tensors.
std::vector<Bytes> added_by(const OrderTable& table, std::span<const OrderReuse> reuses);

}  // namespace stowage
