// Graphs whose sizes grow with a length that is known at run time only, and the row of a plan that
// holds a length.
//
// A tensor needs size + length * size_per_token bytes, a workspace likewise; both numbers are
// rounded up to the alignment, so that sizes are affine in the length and stay multiples of it.
//
//   const OrderInstance graph = at_length(instance, 4096);   // a graph of fixed sizes
//   const OrderRow* row = row_at(plan, 4096);                // in far less than a microsecond
//   if (row != nullptr) run(row->order);
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <algorithm>

#include "instances/order/instance.h"
#include "instances/order/plan.h"

namespace stowage {

// The longest length in tokens; 0 where sizes are fixed.
inline Tokens longest_of(const OrderInstance& instance) {
  return instance.tokens ? instance.tokens->to : 0;
}

// `size` and `length` tokens of `per_token`, each rounded up to the alignment. Requires a valid
// instance and a length of its range.
inline Bytes size_at(const OrderInstance& instance, Bytes size, Bytes per_token, Tokens length) {
  return round_up(size, instance.alignment) + length * round_up(per_token, instance.alignment);
}

// The same graph with the sizes that it has at `length`, and no range; itself if it has none. Its
// indices are the same. Requires a valid instance and a length of its range.
OrderInstance at_length(const OrderInstance& instance, Tokens length);

// The row of the plan that holds `length`, or null where none does; by bisection. Requires rows in
// ascending order, as every verified plan has them.
inline const OrderRow* row_at(const OrderPlan& plan, Tokens length) {
  const auto row = std::ranges::lower_bound(plan.rows, length, {}, &OrderRow::to);
  return row == plan.rows.end() || length < row->from ? nullptr : &*row;
}

}  // namespace stowage
