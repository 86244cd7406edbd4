// Which rate the choice of a configuration hangs on: the smallest change of one rate with which
// another configuration is the faster one.
//
//   for (const RateSwitch& each : rate_switches(instance, plan).changes) {
//     std::cout << each.pointer << ' ' << each.from << " -> " << each.to << '\n';
//   }
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

// No change by a larger factor, or divisor, is looked for.
inline constexpr double kMostRateFactor = 2;

struct RateSwitch {
  std::string rate;     // its key
  std::string pointer;  // where it stands in the instance
  double from = 0;
  double to = 0;
  StrategyPlan other;  // priced with the changed rate
  Ms plan_ms = 0;      // of the plan, with the changed rate

  double factor() const { return to / from; }
};

struct RateSwitches {
  std::optional<StrategyPlan> faster;  // than the plan with the rates as they are; then no changes
  std::vector<RateSwitch> changes;     // the smallest first
};

// At most one change for each rate. Others are the configurations of the
// instance's options whose stages have as many layers, or nearly so, with one ZeRO level and one
// recomputation, and which fit. Rates are those of rate_names() (instances/strategy/fit_rates.h).
// Changes are found to a thousandth.
RateSwitches rate_switches(const StrategyInstance& instance, const StrategyPlan& plan);

}  // namespace stowage
