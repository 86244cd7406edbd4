// An instance, or a plan, of any problem family.
//
//   Instance instance = ScatterInstance{...};
//   Plan plan = ...;
//   double value = std::visit([](const auto& any) { return objective_of(any); }, plan);
//
// Functions that take an Instance or a Plan take those of a family as well: solve(step, ...) of a
// ScatterInstance.
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <string_view>
#include <variant>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

// In the order of Families (families.h).
using Instance =
    std::variant<ScatterInstance, AssignInstance, LayoutInstance, OrderInstance, StrategyInstance>;
using Plan = std::variant<ScatterPlan, AssignPlan, LayoutPlan, OrderPlan, StrategyPlan>;

// "scatter", "assign", "layout", "order" or "strategy".
std::string_view family_name(const Instance& instance);
std::string_view family_name(const Plan& plan);

}  // namespace stowage
