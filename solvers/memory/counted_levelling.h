// Levellings that share a budget of nodes with the layouts beside them.
//
//   order = level_within(table, std::move(order), {.moves = 100'000, .seed = 1}, budget);
//
// Thread safety: a function of its arguments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "heuristics/order/levelling.h"
#include "instances/budget.h"
#include "instances/order/table.h"

namespace stowage {

// level_order() with no more moves than the nodes that are left: a hundred moves count as one.
inline std::vector<int> level_within(const OrderTable& table, std::vector<int> order,
                                     Levelling effort, Budget& budget) {
  constexpr std::int64_t kMovesOfANode = 100;
  const std::int64_t nodes = std::min(budget.nodes_left(), effort.moves);
  effort.moves = std::min(effort.moves, kMovesOfANode * nodes);
  order = level_order(table, std::move(order), effort, budget);
  budget.count_nodes(effort.moves / kMovesOfANode);
  return order;
}

}  // namespace stowage
