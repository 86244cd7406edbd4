// The assign family's conflicts, bottlenecks and changes. explain/explain.cc combines them.
#pragma once

#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "solvers/explain/explanation.h"
#include "solvers/explain/family_explain.h"

namespace stowage {

// Returns the reason why no plan exists. Requires an instance proven infeasible.
Conflict conflict_in(const AssignInstance& instance, const Trial& trial);

// Returns the bottleneck of a verified plan.
Bottleneck binding_of(const AssignInstance& instance, const AssignPlan& plan);

// Returns changes that a user may be able to pay for, with the plan carried over if it stays valid.
std::vector<Change> changes_of(const AssignInstance& instance, const AssignPlan& plan);

}  // namespace stowage
