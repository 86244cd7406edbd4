#include "instances/strategy/fit_rates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace stowage {
namespace {

constexpr std::size_t kRates = 10;
using Numbers = std::array<double, kRates>;
using Square = std::array<Numbers, kRates>;

constexpr std::array<std::string_view, kRates> kNames = {
    "linear_tflops", "attention_tflops", "inside",          "across",       "pass_bytes",
    "pass_ms",       "square_bytes",     "expert_slowdown", "update_bytes", "update_ms"};

// Of a factor's logarithm, against the relative error of one sample. Smaller: factors that few
// samples depend on move farther. Evidence: bench/results/0.1.0/published.md.
constexpr double kPull = 0.02;
constexpr double kHuber = 0.1;   // relative error from which on a sample counts less
constexpr double kShift = 1e-4;  // of a logarithm, for a derivative
constexpr double kLongest = 1;   // step of a logarithm in one round
constexpr int kRounds = 40;
constexpr int kTries = 8;
constexpr double kInterval = 1.96;  // standard deviations

double* rate_of(StrategyInstance& instance, std::size_t k) {
  StrategyCost& cost = instance.cost;
  StrategyBandwidth& links = instance.cluster.mib_per_ms;
  const std::array<double*, kRates> all = {&cost.linear_tflops,
                                           &cost.attention_tflops,
                                           &links.inside,
                                           &links.across,
                                           &cost.detail->pass_bytes,
                                           &cost.detail->pass_ms,
                                           &cost.detail->square_bytes,
                                           &cost.detail->expert_slowdown,
                                           &cost.detail->update_bytes,
                                           &cost.detail->update_ms};
  return all[k];
}

StrategyInstance scaled(StrategyInstance instance, const Numbers& logs) {
  for (std::size_t k = 0; k < kRates; ++k) *rate_of(instance, k) *= std::exp(logs[k]);
  instance.cost.detail->expert_slowdown = std::max(1.0, instance.cost.detail->expert_slowdown);
  return instance;
}

// Solves a x = b, of which a is positive definite. Gaussian elimination.
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
  explicit Fit(std::span<const StrategySample> samples) : samples_(samples) {}

  std::vector<FittedRate> run() {
    Numbers logs{};
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
    differentiate(logs, errors);
    return described(logs, errors);
  }

 private:
  // Logarithms of predicted over measured.
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

  // The normal equations at `logs`.
  void differentiate(const Numbers& logs, const std::vector<double>& errors) {
    std::array<std::vector<double>, kRates> columns;
    for (std::size_t k = 0; k < kRates; ++k) {
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

  std::vector<FittedRate> described(const Numbers& logs, const std::vector<double>& errors) const {
    double squares = 0;
    for (const double error : errors) squares += weight(error) * error * error;
    const auto free = static_cast<double>(errors.size()) - static_cast<double>(kRates);
    const double variance = std::max(squares / std::max(1.0, free), 1e-8);
    std::vector<FittedRate> rates;
    for (std::size_t k = 0; k < kRates; ++k) {
      Numbers unit{};
      unit[k] = 1;
      const double inverse = solved(normal_, unit)[k];
      const double width = kInterval * std::sqrt(variance * inverse);
      // Half of what the pull alone leaves open, and no wider than a factor of two.
      const bool determined = inverse < 0.25 / (kPull * kPull) && width < std::log(2.0);
      rates.push_back({kNames[k], std::exp(logs[k]), std::exp(logs[k] - width),
                       std::exp(logs[k] + width), determined});
    }
    return rates;
  }

  std::span<const StrategySample> samples_;
  Square normal_{};
  Numbers slope_{};
};

}  // namespace

std::vector<FittedRate> fit_rates(std::span<const StrategySample> samples) {
  return Fit(samples).run();
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
