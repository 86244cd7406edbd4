// Fits the rates of version 2 of the formulas to logged steps. A logged step is a configuration and
// the time of its step.
//
//   std::vector<StrategySample> samples = ...;  // instances with the initial rates
//   for (const FittedRate& rate : fit_rates(samples)) {
//     std::cout << rate.name << " times " << rate.factor << '\n';
//   }
//   StrategyCost cost = with_rates(samples.front().instance.cost, fitted);
//
// Each rate gets a factor, the same for all samples, so the samples must be of one machine and one
// software.
//
// Thread safety: reads its arguments and nothing else.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "instances/strategy/cost/price.h"
#include "instances/strategy/instance.h"

namespace stowage {

struct StrategySample {
  StrategyInstance instance;  // with version 2 of the formulas
  StrategyConfiguration configuration;
  Ms step_ms = 0;  // measured, above 0
};

struct FittedRate {
  std::string_view name;  // key of the instance: "linear_tflops", "across", "pass_ms", ...
  double factor = 1;
  double low = 0;  // the interval of about 95 % confidence is from low to high
  double high = 0;
  bool determined = false;  // the samples, and not the initial rate, decide the factor
};

// Returns the factors of least squares of the logarithms of predicted over measured times, by
// Levenberg and Marquardt's method. Steps that are off by more than a tenth have less weight (Huber
// 1964). A weak pull to the initial rates keeps a factor that no sample depends on at 1. The same
// samples give the same factors. Without samples all factors are 1.
std::vector<FittedRate> fit_rates(std::span<const StrategySample> samples);

// One factor on the time of all steps. Its interval of about 95 % confidence is from low to high.
struct CommonFactor {
  double factor = 1;
  double low = 0;
  double high = 0;
};

// Rates of which only those that the samples determine are changed.
struct DeterminedRates {
  // All rates. A rate that is not determined has factor 1, or follows from `common`.
  std::vector<FittedRate> rates;
  // Set if the samples determine one factor on all times and no single rate.
  std::optional<CommonFactor> common;
  // The error of each sample by rates that were fitted to the others; nullopt with fewer than four
  // samples.
  std::optional<RateError> held_out;
};

// Fits like fit_rates(), but a rate that the samples do not determine keeps its initial value. Such
// rates are fixed one after another, the least determined first, and the others are fitted again
// each time. One factor on all times is fitted in the place of rates if no rate is determined, if
// that factor explains the samples to within their noise, or if it explains them no worse than the
// rates for their number. Intervals assume noise of at least 1 %, and that the fixed rates are off
// by a factor of 1.6 (one standard deviation). Products may reach at most 2.5 times, and attention
// 2.4 times, their initial rate: from the defaults that is the peak of 8 bits and three quarters of
// the peak of 16 bits. Held-out samples are quarters, or single samples if there are at most
// sixteen.
DeterminedRates fit_determined_rates(std::span<const StrategySample> samples);

// Returns the keys of the fitted rates, in the order of FittedRate lists.
std::span<const std::string_view> rate_names();

// Returns the rate of this name in an instance. Returns null for another name, and in an instance
// of version 1 of the formulas for a rate of version 2.
double* rate_named(StrategyInstance& instance, std::string_view name);

// Returns the instance with its rates times these factors. Requires version 2 of the formulas.
StrategyInstance with_rates(const StrategyInstance& instance, std::span<const FittedRate> rates);

}  // namespace stowage
