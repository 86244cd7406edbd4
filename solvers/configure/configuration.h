// A configuration inside configure(): the instances of its steps, their plans and their prices.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "instances/scatter/instance.h"
#include "instances/strategy/plan.h"
#include "solvers/configure/handover.h"
#include "solvers/outcome.h"

namespace stowage {

struct ConfiguredStep {
  ScatterInstance instance;
  Outcome outcome;  // has a plan
  PricedStep price;
};

struct RankedConfiguration {
  StrategyPlan plan;             // with hash, and with the bound of all configurations
  double activation_factor = 1;  // factor of the memory that the token model counts per token
  // The steps of the first configuration are complete and in their order. The other configurations
  // have the steps planned for them, beginning with a step of middling weight and the heaviest
  // step.
  std::vector<ConfiguredStep> steps;
  // The mean of its steps, and its ratio to the mean of the fastest configuration on the same
  // steps.
  PricedStep mean;
  double behind = 1;
  std::string why_not;  // the reason if a step has no plan, otherwise empty
};

// Receives the present activity as text for people.
using ConfigureProgress = std::function<void(const std::string& doing)>;

// Returns true if trainers can express the plan: sharding, recomputation and the number of chunks
// are equal in all stages.
bool is_uniform(const StrategyPlan& plan);

// Returns the differences between configurations of a ranking, for example "pp 1, v 1, tp 1, ZeRO
// 3, none".
std::string configuration_name(const StrategyPlan& plan);

}  // namespace stowage
