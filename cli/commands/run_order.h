// stowage run, for orders: the training step that a graph was recorded from, or a memory exercise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/terminal/console.h"
#include "instances/budget.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"

namespace stowage {

struct OrderRun {
  std::string instance_path;  // for errors of recorded_from
  std::string layout_path;    // of a plan of order_layout(); empty: it is laid out here
  std::optional<std::int64_t> scale;
  std::uint64_t seed = 0;
};

// Lays the tensors of a verified plan out, or verifies the layout that is given, executes it, tells
// how it went and answers. Returns the exit code.
ExitCode run_order(Console& console, const OrderInstance& graph, const OrderPlan& plan,
                   const OrderRun& run, Budget& budget);

}  // namespace stowage
