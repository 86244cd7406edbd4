// Any instance and any plan: the families side by side. Adding a family adds a line here.
#pragma once

#include <variant>

#include "instances/scatter.h"
#include "instances/scatter_plan.h"

namespace stowage {

using Instance = std::variant<ScatterInstance>;
using Plan = std::variant<ScatterPlan>;

}  // namespace stowage
