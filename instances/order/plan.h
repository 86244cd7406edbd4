// The order plan: the order of the operators, the operators that run again, and the tensors that
// are on the host meanwhile.
//
//   const OrderRow* row = row_at(plan, 4096);  // for 4096 tokens; a bisection, no allocation
//   if (row != nullptr) run(row->order);
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instances/units.h"

namespace stowage {

// The order of a range of lengths, both ends included. The peak of one order is convex in the
// length, and the bound, that of one operator, is concave. Between the ends the peak lies below the
// straight line and the bound above it. So the gap is nowhere larger than at the worse end.
struct OrderRow {
  // Values of `bound_operator` that stand for all inputs together, and for all tensors that are
  // live after the last operator.
  static constexpr std::int64_t kInputs = -1;
  static constexpr std::int64_t kLeft = -2;

  Tokens from = 0;
  Tokens to = 0;
  Bytes peak_at_from = 0;  // the most that any step needs at a length of `from`
  Bytes peak_at_to = 0;
  Bytes bound_at_from = 0;  // no plan has a smaller peak at this length
  Bytes bound_at_to = 0;
  std::int64_t bound_operator = kInputs;  // both bounds are of this operator
  std::vector<std::int64_t> order;        // as in a plan

  bool operator==(const OrderRow&) const = default;
};

// A tensor goes to the host and comes back. Positions are those of the order: 3 is the time between
// the runs at 2 and at 3.
struct OrderTransfer {
  std::int64_t tensor = 0;
  // The transfer out begins here at the earliest. Without a value, the host has the copy already.
  std::optional<std::int64_t> out;
  std::int64_t freed = 1;  // its memory on the device is free from this step on
  std::int64_t in = 2;     // it has memory on the device again from this step on

  bool operator==(const OrderTransfer&) const = default;
};

// A tensor takes the memory of a tensor that its writer is the last to touch.
struct OrderReuse {
  std::int64_t tensor = 0;
  std::int64_t on = 0;  // the tensor whose memory it takes

  bool operator==(const OrderReuse&) const = default;
};

struct OrderPlan {
  std::string name;           // of the instance
  std::string instance_hash;  // hash of the instance (json/json.h); the plan is valid for that
                              // instance only
  Bytes peak_bytes = 0;       // the largest need of any step, at the longest length
  std::optional<Ms> time_ms;  // of all runs; only if the objective is the time
  Bytes bound_bytes = 0;      // objective peak: no plan of this instance has a smaller peak
  Ms bound_ms = 0;            // objective time: no plan takes less time
  std::string bound_by;       // the certificate's name
  std::vector<std::int64_t> order;  // indices of the operators, the first to run first; an operator
                                    // that stands there again runs again
  // Only for an instance with a range of lengths: rows that follow each other over the whole range.
  // The last row's order is `order`. row_at() finds the row of a length.
  std::vector<OrderRow> rows;
  std::vector<OrderTransfer> transfers;  // only for an instance with a host
  std::vector<OrderReuse> in_place;      // only for an instance with `in_place`

  bool operator==(const OrderPlan&) const = default;
};

// Returns the row of the plan that holds `length`, or null if no row does; by bisection. Requires
// rows in ascending order, as in every verified plan.
const OrderRow* row_at(const OrderPlan& plan, Tokens length);

// The objective and the bound that a plan states, in the unit of its instance's objective.
inline double objective_of(const OrderPlan& plan) {
  return plan.time_ms ? *plan.time_ms : static_cast<double>(plan.peak_bytes);
}
inline double bound_of(const OrderPlan& plan) {
  return plan.time_ms ? plan.bound_ms : static_cast<double>(plan.bound_bytes);
}
inline void state_bound(OrderPlan& plan, double bound, std::string by) {
  if (plan.time_ms) {
    plan.bound_ms = bound;
  } else {
    plan.bound_bytes = static_cast<Bytes>(bound);  // exact: bytes stay within 2^53
  }
  plan.bound_by = std::move(by);
}

}  // namespace stowage
