// Orders whose steps beside the peak need less.
//
// The peak of an order says nothing of its other steps. Where many of them need about as much as
// the peak, tensors rarely lie without gaps; where few do, mostly. Simulated annealing over orders
// lowers the sum over all steps of the fourth power of what they need. A move takes an operator to
// another place behind all that it waits for and before all that wait for it. Our own.
//
//   order = level_order(table, std::move(order), {.moves = 1'000'000, .seed = 1}, budget);
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "instances/budget.h"
#include "instances/order/table.h"

namespace stowage {

struct Levelling {
  std::int64_t moves = 0;
  std::uint64_t seed = 0;
  // What stands outside the places [from, to) stays where it is. Requires 0 <= from <= to.
  int from = 0;
  int to = std::numeric_limits<int>::max();
};

// An order with no higher peak; after the budget's end, as far as it came. `order`: every operator
// once, and all precedences kept. A move costs as much as the steps between the two places, of
// which most are near each other.
std::vector<int> level_order(const OrderTable& table, std::vector<int> order,
                             const Levelling& effort, const Budget& budget);

}  // namespace stowage
