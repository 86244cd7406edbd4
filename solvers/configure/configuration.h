// A configuration on its way through configure(): what it was planned for, and what that takes.
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
  StrategyPlan plan;             // with hash, and the bound of all configurations
  double activation_factor = 1;  // what a token needs, times this
  // Of the first all, in their order; of others as many as were planned, beginning with one in the
  // middle and the heaviest.
  std::vector<ConfiguredStep> steps;
  // Of its steps: their mean, and the mean divided by that of the fastest on the same steps.
  PricedStep mean;
  double behind = 1;
  std::string why_not;  // not empty: a step has no plan in it
};

// What is being done now, for people.
using ConfigureProgress = std::function<void(const std::string& doing)>;

// Whether trainers have a word for it: what is sharded and recomputed, and in how many chunks, is
// the same in all stages.
bool is_uniform(const StrategyPlan& plan);

// "pp 1, v 1, tp 1, ZeRO 3, none": what differs between configurations of a ranking.
std::string configuration_name(const StrategyPlan& plan);

}  // namespace stowage
