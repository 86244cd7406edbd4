// Smooths the memory profile of an order: the steps below the peak get lower needs.
//
// The peak of an order does not determine its other steps. If many steps need almost as much as the
// peak, a layout without gaps is rare; if few steps do, most layouts have none. Simulated annealing
// over orders lowers the sum over all steps of the fourth power of their needs. A move takes an
// operator to another place after all its predecessors and before all its successors. This is
// stowage's own method.
//
//   order = level_order(table, std::move(order), {.moves = 1'000'000, .seed = 1}, budget);
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "instances/budget.h"
#include "instances/order/planning_table.h"

namespace stowage {

struct ProfileSmoothing {
  std::int64_t moves = 0;
  std::uint64_t seed = 0;
  // Operators at places in [from, to) move, all others stay. Requires 0 <= from <= to.
  int from = 0;
  int to = std::numeric_limits<int>::max();
};

// Returns an order whose peak is not higher. If the budget ends the search, the result is the
// current order of the annealing. `order` has every operator once and keeps all precedences. A move
// takes time proportional to the distance between the two places, and most distances are short.
std::vector<int> level_order(const OrderTable& table, std::vector<int> order,
                             const ProfileSmoothing& effort, const Budget& budget);

}  // namespace stowage
