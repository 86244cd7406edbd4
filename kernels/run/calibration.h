// The cost model of this machine: packs of many shapes are run, and a scatter cost is fitted.
//
//   Calibration measured = calibrate({.degrees = {1, 2, 4}}, {}, nullptr);
//   instance.cost = measured.cost;
//
// What is measured is one block, forward and backward, over a packed batch on `degree` ranks
// (rank_pool.h): thread CPU seconds of the busiest rank. What is fitted is the model of
// instances/scatter/cost_model.h,
//
//   t(S, d) = fixed + latency_d + sum over S of ((quadratic s^2 + linear s) / d + x_d s / d)
//
// where x_d = mib_per_token / v_d is what the exchange costs a token, as
// instances/scatter/fit/fit.h fits it: by relative errors, so that a pack of a few tokens counts as
// much as a long one, and so that a few packs which something disturbed do not count. Rank counts
// that do not divide the heads leave ranks idle and are outside of the model.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "instances/scatter/instance.h"
#include "kernels/block/block_weights.h"

namespace stowage::kernels {

// The time of a pack is known if its standard error is at most this share. On a machine that
// something else uses it seldom is.
inline constexpr double kSteady = 0.01;

struct CalibrationOptions {
  BlockShape block;
  std::vector<int> degrees = {1};   // ascending, each a divisor of block.heads
  int packs = 21;                   // of each degree; a third is held out
  std::int64_t least_tokens = 128;  // of a pack, unless most_tokens is less; at least 1
  std::int64_t most_tokens = 2048;
  int repeats = 3;  // rounds over all packs, at most; the median of a pack's runs counts (rounds.h)
  // After so many rounds no other begins once the times of all packs are known; after half as many
  // none that would end later than after so many seconds.
  int least_repeats = 3;
  double seconds = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 0;
};

// One pack as it was measured.
struct CalibrationPack {
  int degree = 1;
  std::vector<Tokens> lengths;  // s of each sequence
  double seconds = 0;
  int runs = 0;
  bool steady = false;    // its time is known (kSteady)
  bool held_out = false;  // not fitted

  Tokens tokens() const;   // sum of s
  double squares() const;  // sum of s^2
};

// Mean and 95th percentile of |fitted - measured| / measured.
struct CalibrationError {
  double mean = 0;
  double p95 = 0;
};

struct Calibration {
  ScatterCost cost;         // in ms; a bandwidth for every degree above 1
  CalibrationError fitted;  // of the packs that were fitted
  CalibrationError held_out;
  std::vector<CalibrationPack> packs;
  bool complete = false;  // false: a pack failed or the budget ended first; then nothing is fitted
  std::string problem;    // what failed, in the words of the rank that did; else empty
};

// Told after every run of a pack; runs that are not needed any more count as done.
using CalibrationProgress = std::function<void(std::int64_t done, std::int64_t all)>;

// Requires options as above. `budget` may be null.
Calibration calibrate(const CalibrationOptions& options, const CalibrationProgress& progress,
                      Budget* budget);

// The cost that explains the packs that are not held out, and how well it explains all of them.
// Requires at least one fitted pack more than the model has terms: 3, and 2 for each degree
// above 1.
void fit_cost(const BlockShape& block, Calibration& calibration);

// t(S, d) of a pack by the cost, in ms.
double predicted_ms(const ScatterCost& cost, const CalibrationPack& pack);

}  // namespace stowage::kernels
