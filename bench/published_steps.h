// Published training steps, and how far predictions are from them.
//
//   const std::vector<PublishedStep> steps = read_published("instances/data/published/steps.csv");
//   const std::vector<Ms> predicted = by_defaults(steps, 2);
//   const Spread spread = spread_of(steps, predicted, [](const PublishedStep&) { return true; });
//
// Predictions are of price_configuration(), with the rates of the machine's data sheet that
// `generate strategy` writes.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "instances/model/machine.h"
#include "instances/strategy/fit_rates.h"

namespace stowage::bench {

struct PublishedStep {
  std::string source;
  std::string machine;
  std::string precision;
  std::string model;
  std::string tag;    // of the source: its release, day or software
  std::string job;    // steps of one job differ in their configuration alone
  Tokens tokens = 0;  // of a sequence
  StrategySample sample;
  double memory_gib = 0;  // 0: not published
  bool out_of_memory = false;
};

// Of the CSV file of instances/data/published. Throws std::runtime_error where a row is wrong.
std::vector<PublishedStep> read_published(const std::string& path);

// Gives the instance the default rates of a machine, by version 2 of the formulas.
void set_rates(const Machine& machine, StrategyInstance& instance);

using StepFilter = std::function<bool(const PublishedStep&)>;

// With the default rates of version 1 or 2 of the formulas.
std::vector<Ms> by_defaults(std::span<const PublishedStep> steps, int version);

// Each step with the rates that fit the other half of its source's steps: every second one.
std::vector<Ms> by_halves(std::span<const PublishedStep> steps);

// Each step with the rates that fit the steps of its source with other models; 0 where there are
// none.
std::vector<Ms> without_its_model(std::span<const PublishedStep> steps);

// Of |predicted / measured - 1|.
struct Spread {
  std::size_t steps = 0;
  double median = 0;
  double p90 = 0;
  double worst = 0;
  double bias = 0;  // median of predicted / measured - 1
};
Spread spread_of(std::span<const PublishedStep> steps, std::span<const Ms> predicted,
                 const StepFilter& wanted);

// Inside jobs of at least four steps.
struct Ranking {
  std::size_t jobs = 0;
  double tau = 0;            // mean of Kendall's tau; pairs of equal time count half
  double median_regret = 0;  // of the step that is predicted fastest, against the fastest
  double worst_regret = 0;
};
Ranking ranking_of(std::span<const PublishedStep> steps, std::span<const Ms> predicted,
                   const StepFilter& wanted);

// Predicted memory of the fullest device over the measured one: median, and how many readings.
struct MemorySpread {
  std::size_t readings = 0;
  double median = 0;
  std::size_t ran = 0;        // steps that ran on devices of known memory
  std::size_t refused = 0;    // of them, those that are predicted not to fit
  std::size_t exhausted = 0;  // steps that ran out of memory
  std::size_t admitted = 0;   // of them, those that are predicted to fit
};
MemorySpread memory_of(std::span<const PublishedStep> steps, const StepFilter& wanted);

}  // namespace stowage::bench
