// What an order instance knows of its own conflicts, bindings and changes; explain/explain.cc puts
// them together.
#pragma once

#include <vector>

#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "solvers/explain/explanation.h"
#include "solvers/explain/family_explain.h"

namespace stowage {

// Why there is no plan. Requires an instance proven to have none.
Conflict conflict_in(const OrderInstance& instance, const Trial& trial);

// What holds the objective of a verified plan where it is.
Binding binding_of(const OrderInstance& instance, const OrderPlan& plan);

// Changes a user may be able to pay for, with the plan carried over where it stays valid.
std::vector<Change> changes_of(const OrderInstance& instance, const OrderPlan& plan);

}  // namespace stowage
