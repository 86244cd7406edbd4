// Enumerates all orders of a graph of a few operators, and checks whether an order respects the
// graph's precedences.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"

namespace stowage {

inline bool keeps_precedences(const OrderTable& table, const std::vector<int>& order) {
  OrderMemory memory(table);
  return std::ranges::all_of(order, [&](int op) {
    if (!memory.ready(op)) return false;
    memory.run(op);
    return true;
  });
}

// Calls use(order) for each order.
template <class Use>
void every_order(const OrderTable& table, Use use) {
  std::vector<int> order(static_cast<std::size_t>(table.operators()));
  std::iota(order.begin(), order.end(), 0);
  do {
    if (keeps_precedences(table, order)) use(order);
  } while (std::ranges::next_permutation(order).found);
}

}  // namespace stowage
