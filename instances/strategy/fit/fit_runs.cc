// Fits rates and the factor of activations to logged runs.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instances/strategy/configuration.h"
#include "instances/strategy/fit/runs.h"

namespace stowage {
namespace {

constexpr double kLeastFactor = 0.1;  // range of the activation factor of an instance
constexpr double kMaxFactor = 100;
constexpr double kToldApart = 0.05;  // of a peak: activations below it do not determine the factor

// Returns the factor of M3 with which predicted peaks fit the measured peaks best.
std::optional<double> fitted_activations(const std::vector<LoggedRun>& runs) {
  double products = 0;
  double squares = 0;
  bool told = false;
  for (const LoggedRun& run : runs) {
    if (!run.peak_mib) continue;
    const auto peak_at = [&](double factor) {
      StrategyInstance instance = run.sample.instance;
      instance.cost.detail->activation_factor = factor;
      const StrategyPlan plan = price_configuration(instance, run.sample.configuration);
      Mib most = 0;
      for (const StrategyStage& stage : plan.stages) most = std::max(most, stage.memory_mib);
      return most;
    };
    const Mib one = peak_at(1);
    const Mib more = peak_at(2) - one;
    const double weight = 1 / (*run.peak_mib * *run.peak_mib);
    products += weight * more * (*run.peak_mib - (one - more));
    squares += weight * more * more;
    told = told || more > kToldApart * *run.peak_mib;
  }
  const double factor = told ? products / squares : 0;
  if (!(factor >= kLeastFactor && factor <= kMaxFactor)) return std::nullopt;
  return factor;
}

}  // namespace

StrategyFit fit_strategy(const std::vector<LoggedRun>& runs, const StrategyInstance& like) {
  std::vector<StrategySample> samples;
  for (const LoggedRun& run : runs) samples.push_back(run.sample);
  StrategyFit fit{.instance = like, .rates = fit_determined_rates(samples)};
  const std::vector<FittedRate>& used = fit.rates.rates;
  fit.instance = with_rates(like, used);
  StrategyRates label{
      .source = StrategyRateSource::fitted, .steps = std::ssize(runs), .error = fit.rates.held_out};
  if (like.cost.rates) label.stack = like.cost.rates->stack;
  for (const FittedRate& rate : used) {
    if (!rate.determined) label.kept.emplace_back(rate.name);
  }
  fit.instance.cost.rates = std::move(label);
  fit.activation_factor = fitted_activations(runs);
  if (fit.activation_factor) {
    fit.instance.cost.detail->activation_factor = *fit.activation_factor;
  }
  for (const StrategySample& sample : samples) {
    const StrategyInstance instance = with_rates(sample.instance, used);
    fit.predicted_ms.push_back(price_configuration(instance, sample.configuration).step_ms);
  }
  return fit;
}

}  // namespace stowage
