// The strategy family's conflicts, bottlenecks and changes. explain/explain.cc combines them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "solvers/explain/explanation.h"
#include "solvers/explain/family_explain.h"

namespace stowage {

// Returns the reason why no plan exists. Requires an instance proven infeasible.
Conflict conflict_in(const StrategyInstance& instance, const Trial& trial);

// Returns the rule by which no configuration assigns the layers to stages and chunks, although all
// other rules allow some, and a remedy. Returns nullopt if the degrees do not combine for another
// reason. Requires an instance whose options do not combine.
struct UnplacedLayers {
  std::string rule;
  std::string remedy;
};
std::optional<UnplacedLayers> why_unplaced(const StrategyInstance& instance);

// Returns the rule of ep as a clause that follows the rules of other degrees. Returns an empty
// string if the options allow ep 1, which satisfies the rule.
std::string rule_of_ep(const StrategyInstance& instance);

// Returns the bottleneck of a verified plan.
Bottleneck binding_of(const StrategyInstance& instance, const StrategyPlan& plan);

// Returns changes that a user may be able to pay for, with the plan carried over if it stays valid.
std::vector<Change> changes_of(const StrategyInstance& instance, const StrategyPlan& plan);

}  // namespace stowage
