// Published training steps and the errors of predictions.
//
//   const std::vector<PublishedStep> steps = read_published("instances/data/published/steps.csv");
//   const std::vector<Ms> predicted = by_defaults(steps, 2);
//   const Spread spread = spread_of(steps, predicted, [](const PublishedStep&) { return true; });
//
// price_configuration() computes the predictions with the rates of the machine's data sheet, as
// `generate strategy` writes them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "instances/model/machine.h"
#include "instances/strategy/fit/fit_rates.h"

namespace stowage::bench {

struct PublishedStep {
  std::string source;
  std::string machine;
  std::string precision;
  std::string model;
  std::string tag;    // subdivision of the source: its release, day or software
  std::string job;    // steps of one job differ only in their configuration
  Tokens tokens = 0;  // tokens of a sequence
  StrategySample sample;
  double memory_gib = 0;  // 0: not published
  bool out_of_memory = false;
};

// Reads the CSV file of instances/data/published. Throws std::runtime_error for an invalid row.
std::vector<PublishedStep> read_published(const std::string& path);

// Sets the instance's rates to the default rates of a machine, by version 2 of the formulas.
void set_rates(const Machine& machine, StrategyInstance& instance);

using StepFilter = std::function<bool(const PublishedStep&)>;

// Predicts with the default rates of version 1 or 2 of the formulas.
std::vector<Ms> by_defaults(std::span<const PublishedStep> steps, int version);

// Predicts each step with rates fitted to the other half of its source's steps; the halves are
// every second step.
std::vector<Ms> by_halves(std::span<const PublishedStep> steps);

// Predicts each step with rates fitted to the steps of its source with other models; 0 if there are
// no such steps.
std::vector<Ms> without_its_model(std::span<const PublishedStep> steps);

// Statistics of |predicted / measured - 1|.
struct Spread {
  std::size_t steps = 0;
  double median = 0;
  double p90 = 0;
  double worst = 0;
  double bias = 0;  // median of predicted / measured - 1
};
Spread spread_of(std::span<const PublishedStep> steps, std::span<const Ms> predicted,
                 const StepFilter& wanted);

// Statistics of the ranking within jobs of at least four steps.
struct Ranking {
  std::size_t jobs = 0;
  double tau = 0;  // mean of Kendall's tau; pairs of equal time count half
  // excess time of the step that is predicted fastest over the fastest step
  double median_regret = 0;
  double worst_regret = 0;
};
Ranking ranking_of(std::span<const PublishedStep> steps, std::span<const Ms> predicted,
                   const StepFilter& wanted);

// Median ratio of the predicted to the measured memory of the fullest device, and number of
// readings.
struct MemorySpread {
  std::size_t readings = 0;
  double median = 0;
  std::size_t ran = 0;        // steps that ran on devices of known memory
  std::size_t refused = 0;    // steps of `ran` whose prediction does not fit
  std::size_t exhausted = 0;  // steps that ran out of memory
  std::size_t admitted = 0;   // steps of `exhausted` whose prediction fits
};
MemorySpread memory_of(std::span<const PublishedStep> steps, const StepFilter& wanted);

}  // namespace stowage::bench
