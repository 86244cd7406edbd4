// Rates of version 2 of the formulas, fitted to logged steps: a configuration and the time of its
// step each.
//
//   std::vector<StrategySample> samples = ...;  // instances with the rates to begin with
//   for (const FittedRate& rate : fit_rates(samples)) {
//     std::cout << rate.name << " times " << rate.factor << '\n';
//   }
//   StrategyCost cost = with_rates(samples.front().instance.cost, fitted);
//
// Each rate is a factor on what the instances have, the same for all samples: factors fit samples
// of one machine and one software.
//
// Thread safety: reads its arguments and nothing else.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/strategy/price.h"

namespace stowage {

struct StrategySample {
  StrategyInstance instance;  // with version 2 of the formulas
  StrategyConfiguration configuration;
  Ms step_ms = 0;  // measured, above 0
};

struct FittedRate {
  std::string_view name;  // key of the instance: "linear_tflops", "across", "pass_ms", ...
  double factor = 1;
  double low = 0;  // about 95 % of what the samples allow lie between these factors
  double high = 0;
  bool determined = false;  // the samples say more of it than what it began with
};

// Least squares of the logarithms of predicted over measured times, in which steps that are off by
// more than a tenth count less (Huber 1964), by Levenberg and Marquardt's method. A weak pull to
// what it begins with keeps factors that no sample depends on at 1. The same samples give the same
// factors. Without samples all factors are 1.
std::vector<FittedRate> fit_rates(std::span<const StrategySample> samples);

// Rates of which none is written that the samples do not determine.
struct DeterminedRates {
  std::vector<FittedRate> rates;  // all of them; those that are not determined have the factor 1
  // Of each sample, by rates that were fitted to others. Nothing with fewer than four samples.
  std::optional<RateError> held_out;
};

// As fit_rates(), but a rate that the samples do not determine stays as it was: one after another,
// beginning with the least determined, while the others are fitted again. Intervals count with
// 1 % of noise at least, and with the rates that stayed being off by a factor of 1.6 (one standard
// deviation). Products take at most 2.5 and attention 2.4 times the rate that they began with,
// which from the defaults is the peak of 8 bits and three quarters of that of 16. Samples are held
// out by quarters, or, of at most sixteen, one by one.
DeterminedRates fit_determined_rates(std::span<const StrategySample> samples);

// The keys of the rates that are fitted, in the order of FittedRate lists.
std::span<const std::string_view> rate_names();

// The rate of this name in an instance; null for another name, and for a rate that version 1 of the
// formulas has not, in an instance of version 1.
double* rate_named(StrategyInstance& instance, std::string_view name);

// The instance with these factors on its rates. Requires version 2 of the formulas.
StrategyInstance with_rates(const StrategyInstance& instance, std::span<const FittedRate> rates);

}  // namespace stowage
