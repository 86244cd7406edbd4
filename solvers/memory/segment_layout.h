// Makes an order and its layout within a limit, one hill of steps after another.
//
// A search over all steps at once mixes steps that hardly interact. Here the hill that needs most
// memory is laid out first, then its neighbours on both sides. Buffers that reach over from a
// finished hill are pinned (segments.h). If a hill has no layout, its operators are reordered
// among themselves, which changes nothing outside it (levelling.h). If that does not help, the
// neighbour is laid out anew. This method is our own.
//
//   const auto found = lay_out_stretches(graph, table, plan.order, {.limit = peak}, budget);
//   if (found) use(found->order, found->offsets);
//
// Thread safety: a function of its arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/order/planning_table.h"

namespace stowage {

struct SegmentOptions {
  Bytes limit = 0;  // limit on the peak of the layout, in bytes
  // True: a hill is laid out with the valleys beside it, which are laid out again together with the
  // next hill. False: it is laid out alone, which is easier but leaves less room to its neighbours.
  bool with_valleys = true;
  std::uint64_t seed = 0;
};

struct SegmentLayout {
  std::vector<int> order;
  std::vector<Bytes> offsets;  // of the order_layout() of `order`
};

// Starts with an order of all operators, each once, that keeps the precedences and whose peak is
// within the limit. Returns nullopt if there is only one hill, if no new order of a hill is found,
// or if the budget ends. The budget must have a limit. Nodes of layouts count, and a hundred
// levelling moves count as one node. The result depends on node limits only, never on the clock.
std::optional<SegmentLayout> lay_out_stretches(const OrderInstance& graph, const OrderTable& table,
                                               const OrderPlan& plan, const SegmentOptions& options,
                                               Budget& budget);

}  // namespace stowage
