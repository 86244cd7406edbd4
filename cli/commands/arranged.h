// stowage solve --layout: the tensors of an order laid out beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/terminal/console.h"
#include "instances/budget.h"
#include "instances/order/instance.h"
#include "instances/result.h"
#include "solvers/memory/arrangement.h"
#include "solvers/outcome.h"

namespace stowage {

// Lays out the order of the outcome, whose plan then is the order of the best layout, and whose
// seconds and nodes grow by those of the budget. Requires a plan.
Arrangement arrange_outcome(Console& console, const OrderInstance& graph, std::uint64_t seed,
                            Outcome& outcome, Budget& budget);

// "1 048 576 bytes, 0.33 % over the order's peak; 27 orders laid out"
std::string arrangement_text(const Arrangement& arrangement);

// What speaks against writing a layout to `path`, beside the output `plan_path` and what is read.
std::optional<InputError> check_layout_path(const std::string& path, const Instance& instance,
                                            const std::string& plan_path,
                                            const std::vector<std::string>& inputs);

}  // namespace stowage
