// Checks the claims of an outcome about the layout of its order: the rule outcome_layout.
#pragma once

#include <vector>

#include "cli/families/outcome/stated_outcome.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/violation.h"

namespace stowage {

// Appends a violation for each false claim. Requires a plan that verify() accepts.
void check_layout_claim(const StatedLayout& claimed, const OrderInstance& graph,
                        const OrderPlan& plan, std::vector<Violation>& violations);

}  // namespace stowage
