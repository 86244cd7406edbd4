// An order and its layout within a limit, made one stretch of steps after the other.
//
// A search over all steps at once mixes up what has little to do with each other. Here the hill
// that needs most is laid out first, then its neighbours on either side, each with what reaches
// over from there pinned (stretches.h). Where a stretch finds no layout its operators are put in
// another order among themselves, which changes nothing outside it (levelling.h); if that is of no
// use, the neighbour is laid out anew. Our own.
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
#include "instances/order/table.h"

namespace stowage {

struct StretchOptions {
  Bytes limit = 0;  // of the layout
  // Whether a hill is laid out with the valleys beside it, which are laid out again together with
  // the hill behind. Else it is laid out alone, which is easier, and leaves its neighbours less.
  bool with_valleys = true;
  std::uint64_t seed = 0;
};

struct StretchLayout {
  std::vector<int> order;
  std::vector<Bytes> offsets;  // of order_layout() of it
};

// Begins with an order of all operators, each once, that keeps the precedences and needs no more
// than the limit. Nothing if there is one hill only, if no other order of a hill is found any
// more, or when the budget ends, which must have a limit. Nodes
// of layouts count, and a hundred moves of a levelling count as one. The course depends on nodes
// only, never on the clock.
std::optional<StretchLayout> lay_out_stretches(const OrderInstance& graph, const OrderTable& table,
                                               const OrderPlan& plan, const StretchOptions& options,
                                               Budget& budget);

}  // namespace stowage
