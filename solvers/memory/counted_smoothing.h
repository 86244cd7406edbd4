// Levelling that shares a budget of nodes with the layouts.
//
//   order = level_within(table, std::move(order), {.moves = 100'000, .seed = 1}, budget);
//
// Thread safety: a function of its arguments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "heuristics/order/profile_smoothing.h"
#include "instances/budget.h"
#include "instances/order/planning_table.h"

namespace stowage {

// Calls level_order() with at most as many moves as the remaining nodes allow. A hundred moves
// count as one node.
inline std::vector<int> level_within(const OrderTable& table, std::vector<int> order,
                                     ProfileSmoothing effort, Budget& budget) {
  constexpr std::int64_t kMovesOfANode = 100;
  const std::int64_t nodes = std::min(budget.nodes_left(), effort.moves);
  effort.moves = std::min(effort.moves, kMovesOfANode * nodes);
  order = level_order(table, std::move(order), effort, budget);
  budget.count_nodes(effort.moves / kMovesOfANode);
  return order;
}

}  // namespace stowage
