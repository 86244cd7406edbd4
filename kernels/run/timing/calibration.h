// Fits the scatter cost model of this machine to measured times of packs of many shapes.
//
//   Calibration measured = calibrate({.degrees = {1, 2, 4}}, {}, nullptr);
//   instance.cost = measured.cost;
//
// A measurement runs one block, forward and backward, over a packed batch on `degree` ranks
// (kernels/run/ranks/rank_pool.h) and takes the thread CPU seconds of the busiest rank. The fitted
// model is that of instances/scatter/cost/cost_model.h,
//
//   t(S, d) = fixed + latency_d
//             + sum over S of (sequence_fixed + (quadratic s^2 + linear s) / d + x_d s / d)
//
// where x_d = mib_per_token / v_d is the exchange time per token. The method is that of
// instances/scatter/fit/fit.h: it minimises relative errors, so that short packs weigh as much as
// long ones, it is robust to a few disturbed packs, and sequence_fixed is 0 unless the packs show
// that it is not. Numbers of ranks that do not divide the
// heads leave ranks idle, so the model excludes them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "instances/scatter/instance.h"
#include "kernels/block/block_weights.h"
#include "kernels/run/timing/pack_design.h"

namespace stowage::kernels {

// Limit of the relative standard error of a steady pack's time. On a machine with other load few
// packs are steady.
inline constexpr double kSteady = 0.01;

struct CalibrationOptions {
  BlockShape block;
  std::vector<int> degrees = {1};   // ascending, each a divisor of block.heads
  int packs = 21;                   // packs of each degree; a third is held out
  std::int64_t least_tokens = 128;  // tokens of a pack, unless most_tokens is less; at least 1
  std::int64_t most_tokens = 2048;
  // Groups of plans: packs of their degrees are like them (pack_design.h).
  std::vector<PackShape> like;
  // maximum of rounds over all packs; the time of a pack is the median over the rounds
  // (timing_rounds.h)
  int repeats = 3;
  // Conditions that end the measurement early. After least_repeats rounds no further round begins
  // if all packs are steady. After half of least_repeats rounds no further round begins if it would
  // end after `seconds` seconds.
  int least_repeats = 3;
  double seconds = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 0;
};

// A measured pack.
struct CalibrationPack {
  int degree = 1;
  std::vector<Tokens> lengths;  // length s of each sequence
  double seconds = 0;
  int runs = 0;
  bool steady = false;    // true if the relative standard error is at most kSteady
  bool held_out = false;  // true if the pack is not used in the fit

  Tokens tokens() const;   // sum of s
  double squares() const;  // sum of s^2
};

// The mean and the 95th percentile of |fitted - measured| / measured.
struct CalibrationError {
  double mean = 0;
  double p95 = 0;
};

struct Calibration {
  ScatterCost cost;         // times in ms; a bandwidth for every degree above 1
  CalibrationError fitted;  // errors on the packs that were fitted
  CalibrationError held_out;
  std::vector<CalibrationPack> packs;
  // false if a pack failed or the budget ended the run; then no cost is fitted
  bool complete = false;
  std::string problem;  // error message of the failed rank, or empty
};

// Called after every run of a pack. Runs that are no longer needed count as done.
using CalibrationProgress = std::function<void(std::int64_t done, std::int64_t all)>;

// Requires valid options as documented above. `budget` may be null.
Calibration calibrate(const CalibrationOptions& options, const CalibrationProgress& progress,
                      Budget* budget);

// Fits the cost to the packs that are not held out, and computes its errors on all packs. Requires
// at least one fitted pack more than the model has terms without a cost per sequence: 3, and 2 for
// each degree above 1.
void fit_cost(const BlockShape& block, Calibration& calibration);

// Returns t(S, d) of a pack by the cost, in ms.
double predicted_ms(const ScatterCost& cost, const CalibrationPack& pack);

}  // namespace stowage::kernels
