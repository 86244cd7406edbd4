// What an outcome says of the layout of its order, held against the order: the rule outcome_layout.
#pragma once

#include <vector>

#include "cli/families/claims.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/violation.h"

namespace stowage {

// Appends a violation for each claim that is not so. Requires a plan that verify() finds nothing
// wrong with.
void check_layout_claim(const ClaimedLayout& claimed, const OrderInstance& graph,
                        const OrderPlan& plan, std::vector<Violation>& violations);

}  // namespace stowage
