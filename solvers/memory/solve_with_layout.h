// Solves an order and lays out its tensors: solve(), then arrange().
//
//   ArrangedOutcome found = solve_with_layout(graph, {}, {.time_limit_s = 10});
//   if (found.arrangement && found.arrangement->layout) use(*found.arrangement->layout);
#pragma once

#include <optional>

#include "instances/budget.h"
#include "instances/order/instance.h"
#include "solvers/memory/arrangement.h"
#include "solvers/outcome.h"
#include "solvers/solve.h"

namespace stowage {

struct ArrangedOutcome {
  // The plan is the order of the best layout; seconds, nodes and improvements are those of both.
  Outcome outcome;
  std::optional<Arrangement> arrangement;  // nullopt if the outcome has no plan
};

// The order has at most half of the time and of the nodes. The layout has half of the nodes, and
// the time that is left.
ArrangedOutcome solve_with_layout(const OrderInstance& graph, const SolveOptions& options,
                                  const Budget::Limits& limits, const Progress& progress = {},
                                  const ArrangeProgress& layout_progress = {});

}  // namespace stowage
