#include "instances/strategy/fit/fit_rates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace stowage {
namespace {

constexpr std::size_t kRates = 11;
using Numbers = std::array<double, kRates>;
using Square = std::array<Numbers, kRates>;

constexpr std::array<std::string_view, kRates> kNames = {
    "linear_tflops", "attention_tflops", "inside",       "across",    "pass_bytes", "pass_ms",
    "square_bytes",  "expert_slowdown",  "update_bytes", "update_ms", "message_ms"};

// Weight of a factor's logarithm, against the relative error of one sample. Smaller: factors that
// few samples depend on move farther. Evidence: bench/results/0.1.0/published.txt.
constexpr double kPull = 0.02;
constexpr double kHuber = 0.1;   // relative error above which a sample has less weight
constexpr double kShift = 1e-4;  // shift of a logarithm, for a derivative
constexpr double kLongest = 1;   // longest step of a logarithm in one round
// Most rounds of Levenberg and Marquardt's method, and most dampings in one round.
constexpr int kRounds = 40;
constexpr int kTries = 8;
constexpr double kSettled = 1e-12;  // step of a common factor's logarithm
constexpr double kInterval = 1.96;  // standard deviations
// Noise of a step's time between runs of one configuration. Intervals are at least as wide as it
// implies.
constexpr double kNoise = 0.01;
// Fewest samples for one common factor where some rates are determined.
constexpr std::size_t kFewestOfCommon = 3;
constexpr std::size_t kFewestHeldOut = 4;  // fewest samples for held-out errors
constexpr std::size_t kOneByOne = 16;      // up to this many samples each is held out alone
constexpr std::size_t kParts = 4;          // groups of more samples

// Most that a rate may be, in multiples of its default: products at the peak of 8 bits, attention
// at three quarters of the peak of 16 bits. Samples that need more have other costs that are
// assumed too high.
constexpr double kMaxProducts = 2.5;
constexpr double kMaxAttention = 2.4;

// What the logarithm of a common factor adds to those of the rates. Less work a millisecond, or
// more milliseconds; the slowdown of experts multiplies products.
constexpr Numbers kCommonRates = {-1, -1, -1, -1, 1, 1, 1, 0, 1, 1, 1};

using Mask = std::array<bool, kRates>;
constexpr Mask all_rates() {
  Mask mask{};
  mask.fill(true);
  return mask;
}

constexpr std::size_t kFirstOfDetail = 4;

// Returns the rate, or null for a rate of version 2 in an instance of version 1.
double* rate_of(StrategyInstance& instance, std::size_t k) {
  StrategyCost& cost = instance.cost;
  StrategyBandwidth& links = instance.cluster.mib_per_ms;
  if (k >= kFirstOfDetail && !cost.detail) return nullptr;
  switch (k) {
    case 0:
      return &cost.linear_tflops;
    case 1:
      return &cost.attention_tflops;
    case 2:
      return &links.inside;
    case 3:
      return &links.across;
    default:
      break;
  }
  StrategyDetail& detail = *cost.detail;
  const std::array<double*, kRates - kFirstOfDetail> all = {
      &detail.pass_bytes,   &detail.pass_ms,   &detail.square_bytes, &detail.expert_slowdown,
      &detail.update_bytes, &detail.update_ms, &detail.message_ms};
  return all[k - kFirstOfDetail];
}

StrategyInstance scaled(StrategyInstance instance, const Numbers& logs) {
  for (std::size_t k = 0; k < kRates; ++k) *rate_of(instance, k) *= std::exp(logs[k]);
  instance.cost.detail->expert_slowdown = std::max(1.0, instance.cost.detail->expert_slowdown);
  return instance;
}

// Solves a x = b, where a is positive definite, by Gaussian elimination.
Numbers solved(Square a, Numbers b) {
  for (std::size_t i = 0; i < kRates; ++i) {
    for (std::size_t j = i + 1; j < kRates; ++j) {
      const double times = a[j][i] / a[i][i];
      for (std::size_t k = i; k < kRates; ++k) a[j][k] -= times * a[i][k];
      b[j] -= times * b[i];
    }
  }
  for (std::size_t i = kRates; i-- > 0;) {
    for (std::size_t k = i + 1; k < kRates; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

class Fit {
 public:
  // Rates outside `free` keep the factor 1.
  explicit Fit(std::span<const StrategySample> samples, const Mask& free = all_rates(),
               bool bounded = false)
      : samples_(samples), free_(free), bounded_(bounded) {}

  // Returns the logarithms of the best factors, starting from `logs`.
  Numbers run(Numbers logs = {}) {
    std::vector<double> errors = errors_of(logs);
    double damping = 0.01;
    for (int round = 0; round < kRounds && !samples_.empty(); ++round) {
      differentiate(logs, errors);
      bool better = false;
      for (int attempt = 0; attempt < kTries && !better; ++attempt) {
        Square damped = normal_;
        for (std::size_t k = 0; k < kRates; ++k) damped[k][k] *= 1 + damping;
        const Numbers step = solved(damped, slope_);
        Numbers tried = logs;
        for (std::size_t k = 0; k < kRates; ++k) {
          tried[k] -= std::clamp(step[k], -kLongest, kLongest);
        }
        if (bounded_) {
          tried[0] = std::min(tried[0], std::log(kMaxProducts));
          tried[1] = std::min(tried[1], std::log(kMaxAttention));
        }
        const std::vector<double> now = errors_of(tried);
        const double gain = cost_of(logs, errors) - cost_of(tried, now);
        if (!(gain > 0)) {
          damping *= 4;
          continue;
        }
        better = gain > 1e-9 * cost_of(logs, errors);
        logs = tried;
        errors = now;
        damping = std::max(damping / 4, 1e-7);
        break;
      }
      if (!better) break;
    }
    return logs;
  }

  // Returns the logarithm of the factor that all times have in common.
  double common() const {
    double log = 0;
    for (int round = 0; round < kRounds; ++round) {
      double sum = 0;
      double weights = 0;
      for (const double error : errors_of(scaled_by(log))) {
        sum += weight(error) * error;
        weights += weight(error);
      }
      const double step = sum / weights;
      log -= step;
      if (std::abs(step) < kSettled) break;
    }
    // Products and attention are no faster than rates alone may be.
    return std::max(log, -std::log(kMaxAttention));
  }

  static Numbers scaled_by(double log) {
    Numbers logs{};
    for (std::size_t k = 0; k < kRates; ++k) logs[k] = kCommonRates[k] * log;
    return logs;
  }

  // Returns the variance of the relative errors at these factors, of which `chosen` were fitted.
  double variance(const Numbers& logs, std::size_t chosen) const {
    const std::vector<double> errors = errors_of(logs);
    double squares = 0;
    for (const double error : errors) squares += weight(error) * error * error;
    const auto free = static_cast<double>(errors.size()) - static_cast<double>(chosen);
    return squares / std::max(1.0, free);
  }

  // Returns the rates at these factors, with their intervals and whether the samples determine
  // them. `noise` is the least standard deviation of a sample's relative error.
  std::vector<FittedRate> described(const Numbers& logs, double noise) {
    const std::vector<double> errors = errors_of(logs);
    differentiate(logs, errors);
    double squares = 0;
    for (const double error : errors) squares += weight(error) * error * error;
    const auto free =
        static_cast<double>(errors.size()) - static_cast<double>(std::ranges::count(free_, true));
    const double variance = std::max(squares / std::max(1.0, free), noise * noise);
    std::vector<FittedRate> rates;
    for (std::size_t k = 0; k < kRates; ++k) {
      Numbers unit{};
      unit[k] = 1;
      const double inverse = solved(normal_, unit)[k];
      const double width = kInterval * std::sqrt(variance * inverse);
      // The variance must be below a quarter of that of the pull alone, and the interval no wider
      // than a factor of two.
      const bool determined = free_[k] && inverse < 0.25 / (kPull * kPull) && width < std::log(2.0);
      rates.push_back({kNames[k], std::exp(logs[k]), std::exp(logs[k] - width),
                       std::exp(logs[k] + width), determined});
    }
    return rates;
  }

 private:
  // Returns the logarithms of predicted over measured times.
  std::vector<double> errors_of(const Numbers& logs) const {
    std::vector<double> errors;
    errors.reserve(samples_.size());
    for (const StrategySample& sample : samples_) {
      const StrategyInstance instance = scaled(sample.instance, logs);
      const Ms predicted = price_configuration(instance, sample.configuration).step_ms;
      errors.push_back(std::log(predicted / sample.step_ms));
    }
    return errors;
  }

  static double weight(double error) {
    return std::min(1.0, kHuber / std::max(std::abs(error), 1e-12));
  }

  static double cost_of(const Numbers& logs, const std::vector<double>& errors) {
    double sum = 0;
    for (const double error : errors) {
      const double size = std::abs(error);
      sum += size <= kHuber ? size * size : kHuber * (2 * size - kHuber);
    }
    for (const double log : logs) sum += kPull * kPull * log * log;
    return sum;
  }

  // Builds the normal equations at `logs`. The row of a fixed rate gives no step.
  void differentiate(const Numbers& logs, const std::vector<double>& errors) {
    std::array<std::vector<double>, kRates> columns;
    for (std::size_t k = 0; k < kRates; ++k) {
      if (!free_[k]) {
        columns[k].assign(errors.size(), 0);
        continue;
      }
      Numbers shifted = logs;
      shifted[k] += kShift;
      columns[k] = errors_of(shifted);
      for (std::size_t i = 0; i < errors.size(); ++i) {
        columns[k][i] = (columns[k][i] - errors[i]) / kShift;
      }
    }
    normal_ = {};
    slope_ = {};
    for (std::size_t i = 0; i < errors.size(); ++i) {
      for (std::size_t k = 0; k < kRates; ++k) {
        const double weighed = weight(errors[i]) * columns[k][i];
        slope_[k] += weighed * errors[i];
        for (std::size_t j = 0; j < kRates; ++j) normal_[k][j] += weighed * columns[j][i];
      }
    }
    for (std::size_t k = 0; k < kRates; ++k) {
      normal_[k][k] += kPull * kPull;
      slope_[k] += kPull * kPull * logs[k];
    }
  }

  std::span<const StrategySample> samples_;
  Mask free_;
  bool bounded_;
  Square normal_{};
  Numbers slope_{};
};

// Returns the free rate with the widest interval that is not determined; nullopt if all are
// determined.
std::optional<std::size_t> least_determined(const std::vector<FittedRate>& rates,
                                            const Mask& free) {
  std::optional<std::size_t> worst;
  const auto width = [&](std::size_t k) { return rates[k].high / rates[k].low; };
  for (std::size_t k = 0; k < kRates; ++k) {
    if (!free[k] || rates[k].determined) continue;
    if (!worst || width(k) > width(*worst)) worst = k;
  }
  return worst;
}

struct Determined {
  std::vector<FittedRate> rates;
  std::optional<CommonFactor> common;
};

// All rates as one factor has them.
Determined common_of(const Fit& fit, double log, std::size_t samples) {
  const double variance = std::max(fit.variance(Fit::scaled_by(log), 1), kNoise * kNoise);
  const double width = kInterval * std::sqrt(variance / static_cast<double>(samples));
  Determined found{.common = CommonFactor{.factor = std::exp(log),
                                          .low = std::exp(log - width),
                                          .high = std::exp(log + width)}};
  for (std::size_t k = 0; k < kRates; ++k) {
    const double factor = std::exp(kCommonRates[k] * log);
    found.rates.push_back({kNames[k], factor, factor, factor, false});
  }
  return found;
}

Determined determined_of(std::span<const StrategySample> samples) {
  Mask free = all_rates();
  Numbers logs{};
  for (;;) {
    Fit fit(samples, free, true);
    logs = fit.run(logs);
    const std::vector<FittedRate> conditional = fit.described(logs, kNoise);
    const std::optional<std::size_t> worst = least_determined(conditional, free);
    if (!worst) break;
    free[*worst] = false;
    logs[*worst] = 0;
  }
  const auto chosen = static_cast<std::size_t>(std::ranges::count(free, true));
  if (!samples.empty() && (chosen == 0 || samples.size() >= kFewestOfCommon)) {
    const Fit fit(samples);
    const double log = fit.common();
    const double own = std::max(fit.variance(logs, chosen), kNoise * kNoise);
    if (chosen == 0 || fit.variance(Fit::scaled_by(log), 1) <= own) {
      return common_of(fit, log, samples.size());
    }
  }
  // Intervals are those with all rates free, because fixed rates may be wrong too.
  Determined found{.rates = Fit(samples).described(logs, kNoise)};
  for (std::size_t k = 0; k < kRates; ++k) found.rates[k].determined = free[k];
  return found;
}

double sorted_part(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

std::optional<RateError> held_out_of(std::span<const StrategySample> samples) {
  if (samples.size() < kFewestHeldOut) return std::nullopt;
  const std::size_t parts = samples.size() <= kOneByOne ? samples.size() : kParts;
  std::vector<double> errors;
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<StrategySample> known;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (i % parts != part) known.push_back(samples[i]);
    }
    const std::vector<FittedRate> rates = determined_of(known).rates;
    for (std::size_t i = part; i < samples.size(); i += parts) {
      const StrategyInstance instance = with_rates(samples[i].instance, rates);
      const Ms predicted = price_configuration(instance, samples[i].configuration).step_ms;
      errors.push_back(std::abs(predicted / samples[i].step_ms - 1));
    }
  }
  std::ranges::sort(errors);
  return RateError{.steps = std::ssize(errors),
                   .median = sorted_part(errors, 0.5),
                   .p90 = sorted_part(errors, 0.9),
                   .worst = errors.back()};
}

}  // namespace

std::vector<FittedRate> fit_rates(std::span<const StrategySample> samples) {
  Fit fit(samples);
  return fit.described(fit.run(), 1e-4);
}

DeterminedRates fit_determined_rates(std::span<const StrategySample> samples) {
  Determined found = determined_of(samples);
  return {
      .rates = std::move(found.rates), .common = found.common, .held_out = held_out_of(samples)};
}

std::span<const std::string_view> rate_names() { return kNames; }

double* rate_named(StrategyInstance& instance, std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return nullptr;
  return rate_of(instance, static_cast<std::size_t>(found - kNames.begin()));
}

StrategyInstance with_rates(const StrategyInstance& instance, std::span<const FittedRate> rates) {
  Numbers logs{};
  for (const FittedRate& rate : rates) {
    const auto found = std::ranges::find(kNames, rate.name);
    if (found == kNames.end()) continue;
    logs[static_cast<std::size_t>(found - kNames.begin())] = std::log(rate.factor);
  }
  return scaled(instance, logs);
}

}  // namespace stowage
