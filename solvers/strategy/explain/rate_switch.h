// Sensitivity of the chosen configuration to the rates: for each rate, the smallest change with
// which another configuration is faster.
//
//   for (const RateSwitch& each : rate_switches(instance, plan).changes) {
//     std::cout << each.pointer << ' ' << each.from << " -> " << each.to << '\n';
//   }
//
// Thread safety: the functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

// Largest factor, or divisor, by which a rate is changed.
inline constexpr double kMaxRateFactor = 2;

struct RateSwitch {
  std::string rate;     // key of the rate
  std::string pointer;  // JSON pointer of the rate in the instance
  double from = 0;
  double to = 0;
  StrategyPlan other;  // the faster configuration, priced with the changed rate
  Ms plan_ms = 0;      // step time of the plan with the changed rate

  double factor() const { return to / from; }
};

struct RateSwitches {
  // a configuration that is faster without any change; `changes` is then empty
  std::optional<StrategyPlan> faster;
  std::vector<RateSwitch> changes;  // the smallest change first
};

// Returns at most one change per rate. The other configurations are those of the instance's options
// that fit. Their stages have equal or nearly equal numbers of layers, one ZeRO level and one
// recomputation. The rates are those of rate_names() (instances/strategy/fit/fit_rates.h). Changes
// are found to a thousandth.
RateSwitches rate_switches(const StrategyInstance& instance, const StrategyPlan& plan);

}  // namespace stowage
