// Plans an order and the offsets of its tensors together.
//
// An order determines the live bytes of each step. Its tensors may need more memory than that,
// because a layout leaves gaps. So orders of the same peak are tried whose other steps need less
// (levelling.h), each with its own layout. Orders without success are given up soon. Every second
// order is also laid out hill by hill, with other orders for each hill (segment_layout.h).
//
//   const Arrangement found = arrange(graph, plan, {}, budget);
//   if (found.layout) use(found.order, found.layout->offsets);
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "instances/budget.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "solvers/function_ref.h"
#include "solvers/outcome.h"

namespace stowage {

struct Arrangement {
  OrderPlan order;                    // verified; has the bound of the given plan
  LayoutInstance buffers;             // order_layout() of the order
  std::optional<LayoutPlan> layout;   // of the buffers, verified; nullopt if none fits the capacity
  std::optional<Bytes> needed_bytes;  // bytes of the best layout, within the capacity or not
  std::int64_t orders = 0;            // number of different orders laid out
  // proof: the layout needs no more than the bound of the given plan, which is trusted. gap: no
  // more than the peak of the given plan, or than the capacity if the objective is time.
  // heuristic_end: no order is left to try.
  StoppedBy stopped_by = StoppedBy::heuristic_end;
  std::string detail;  // reason for a missing layout, if it is not a limit
};

struct ArrangeOptions {
  std::uint64_t seed = 0;
};

// Receives the bytes of each better layout, and the number of orders laid out so far.
using ArrangeProgress = FunctionRef<void(Bytes needed, std::int64_t orders)>;

// Starts with the plan, which must verify. Only its own order is laid out if operators run again,
// if tensors go to the host, or if sizes grow with a length (then for the longest length and its
// order). The time of the order does not change. Nodes of layouts count in the budget, and a
// hundred levelling moves count as one node. The result depends on node limits only, never on the
// clock.
Arrangement arrange(const OrderInstance& graph, const OrderPlan& plan,
                    const ArrangeOptions& options, Budget& budget,
                    const ArrangeProgress& progress = {});

}  // namespace stowage
