// An order and the offsets of its tensors, planned together.
//
// An order says how much must be live at once; its tensors may need more than that, as they leave
// gaps. Then orders with as low a peak are tried whose other steps need less (levelling.h), each
// with a layout of its own, and those that come to nothing are given up soon. Every second one is
// also laid out hill by hill, with other orders for each hill (stretch_layout.h).
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
  OrderPlan order;                    // verified; its bound is that of the plan it began with
  LayoutInstance buffers;             // order_layout() of it
  std::optional<LayoutPlan> layout;   // of the buffers, verified; none within the capacity
  std::optional<Bytes> needed_bytes;  // by the best layout, within the capacity or not
  std::int64_t orders = 0;            // different ones that were laid out
  // proof: the layout needs no more than the bound of the plan that it began with, whose word is
  // taken for it. gap: no more than the peak of that plan, or, where the objective is time, than
  // the capacity. heuristic_end: nothing is left to try.
  StoppedBy stopped_by = StoppedBy::heuristic_end;
  std::string detail;  // why there is no layout where no limit is the reason
};

struct ArrangeOptions {
  std::uint64_t seed = 0;
};

// What hears of each better layout: the bytes it needs, and how many orders were laid out.
using ArrangeProgress = FunctionRef<void(Bytes needed, std::int64_t orders)>;

// Begins with the plan, which verify() must find nothing wrong with. Its order alone is laid out
// where operators run again or tensors go to the host, and where sizes grow with a length (that of
// the longest, with its order). The time of the order stays as it is. Nodes of layouts count in the
// budget, and a hundred moves of a levelling count as one. The course depends on node limits only,
// never on the clock.
Arrangement arrange(const OrderInstance& graph, const OrderPlan& plan,
                    const ArrangeOptions& options, Budget& budget,
                    const ArrangeProgress& progress = {});

}  // namespace stowage
