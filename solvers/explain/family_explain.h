// What each family knows of its own conflicts, bindings and changes; explain.cc puts them together.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "solvers/explain/explanation.h"

namespace stowage {

// Whether an instance has a plan, as far as the limits of the explanation allow to find out.
using Trial = std::function<Outcome(const Instance&)>;

// Why there is no plan. Requires an instance proven to have none.
Conflict conflict_in(const ScatterInstance& instance, const Trial& trial);
Conflict conflict_in(const AssignInstance& instance, const Trial& trial);
Conflict conflict_in(const LayoutInstance& instance, const Trial& trial);

// What holds the objective of a verified plan where it is.
Binding binding_of(const ScatterInstance& instance, const ScatterPlan& plan);
Binding binding_of(const AssignInstance& instance, const AssignPlan& plan);
Binding binding_of(const LayoutInstance& instance, const LayoutPlan& plan);

// Changes a user may be able to pay for, with the plan carried over where it stays valid.
std::vector<Change> changes_of(const ScatterInstance& instance, const ScatterPlan& plan);
std::vector<Change> changes_of(const AssignInstance& instance, const AssignPlan& plan);
std::vector<Change> changes_of(const LayoutInstance& instance, const LayoutPlan& plan);

// Numbers in texts: "15310.4", without exponents or trailing zeros where that can be avoided.
std::string plain_number(double value);

// "1 byte", "3 bytes"
std::string plain_count(std::int64_t count, const std::string& noun);

// "1, 4, 7 and 12 more"
std::string listed(const std::vector<std::int64_t>& ids);

}  // namespace stowage
