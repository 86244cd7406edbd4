// What a strategy instance knows of its own conflicts, bindings and changes; explain/explain.cc
// puts them together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "solvers/explain/explanation.h"
#include "solvers/explain/family_explain.h"

namespace stowage {

// Why there is no plan. Requires an instance proven to have none.
Conflict conflict_in(const StrategyInstance& instance, const Trial& trial);

// Why no configuration deals the layers to stages and chunks although all other rules allow some,
// and a remedy. Nothing if the degrees do not combine for another reason. Requires an instance
// whose options do not combine.
struct Undealt {
  std::string rule;
  std::string remedy;
};
std::optional<Undealt> why_undealt(const StrategyInstance& instance);

// The rule of ep, to go on with after those of other degrees; empty where the options allow ep 1,
// which keeps it always.
std::string rule_of_ep(const StrategyInstance& instance);

// What holds the objective of a verified plan where it is.
Binding binding_of(const StrategyInstance& instance, const StrategyPlan& plan);

// Changes a user may be able to pay for, with the plan carried over where it stays valid.
std::vector<Change> changes_of(const StrategyInstance& instance, const StrategyPlan& plan);

}  // namespace stowage
