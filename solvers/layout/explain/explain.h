// The layout family's conflicts, bottlenecks and changes. explain/explain.cc combines them.
#pragma once

#include <vector>

#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "solvers/explain/explanation.h"
#include "solvers/explain/family_explain.h"

namespace stowage {

// Returns the reason why no plan exists. Requires an instance proven infeasible.
Conflict conflict_in(const LayoutInstance& instance, const Trial& trial);

// Returns the bottleneck of a verified plan.
Bottleneck binding_of(const LayoutInstance& instance, const LayoutPlan& plan);

// Returns changes that a user may be able to pay for, with the plan carried over if it stays valid.
std::vector<Change> changes_of(const LayoutInstance& instance, const LayoutPlan& plan);

}  // namespace stowage
