// stowage run, for orders: executes the training step of a recorded graph, or a memory exercise.
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
  std::string instance_path;  // used in errors of recorded_from
  // path of a plan of order_layout(); empty: run_order() computes a layout
  std::string layout_path;
  std::optional<std::int64_t> scale;
  std::uint64_t seed = 0;
};

// Lays out the tensors of a verified plan, or verifies the given layout. Then executes it and
// writes the report and the answer. Returns the exit code.
ExitCode run_order(Console& console, const OrderInstance& graph, const OrderPlan& plan,
                   const OrderRun& run, Budget& budget);

}  // namespace stowage
