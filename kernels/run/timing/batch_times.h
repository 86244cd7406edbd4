// Predicts the times of a plan's batches on this machine, and measures them in the same rounds.
//
//   BatchTimes times = batch_times(pool, {.block = block}, plan, ranks, {}, nullptr);
//   times.batches[b].seconds, times.batches[b].predicted_s
//
// A cost model is believed if it predicts. The prediction of a batch does not use its own time. For
// each number of ranks, it uses the times of packs. A pack is a random batch with that number of
// ranks, in which every sequence is longer or shorter by a factor of its own. The times give, by a
// robust fit without negative coefficients (instances/regression/robust.h),
//
//   t = quadratic sum s^2 + linear sum s + sequence n + fixed
//
// over the n sequences of a pack, with s^2 less the pairs that a window hides. This is the form of
// the instance's time model at a fixed degree. Packs and batches run in the same rounds, so that a
// slow phase of the machine affects both (timing_rounds.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "kernels/run/ranks/rank_pool.h"
#include "kernels/run/scaled_plan.h"
#include "kernels/run/timing/timed_works.h"

namespace stowage::kernels {

struct BatchTimesOptions {
  WorkModel model;    // its layers are those of the plan
  Exchange exchange;  // of the batches that are not cut
  int rounds = 7;     // at least 1
  // Each number of ranks has as many packs as batches, within these limits.
  int least_packs = 8;
  int most_packs = 24;
};

struct BatchTime {
  double seconds = 0;  // median over the rounds
  // absent for a sequence in chunks, whose cuts no pack has, and if the packs have no fit
  std::optional<double> predicted_s;

  // Returns |predicted - measured| / measured, or nullopt without a prediction.
  std::optional<double> deviation() const;
};

struct BatchTimes {
  std::vector<BatchTime> batches;  // one entry per batch of the plan; empty unless all were timed
  int packs = 0;
  std::string problem;  // the batch whose rank failed and its error message, or empty
};

// `ranks` holds the ranks of each batch. `progress` may be empty, `budget` may be null; if the
// budget ends the rounds, no batch has a time. Requires a plan without problems.
BatchTimes batch_times(RankPool& pool, const BatchTimesOptions& options, const ScaledPlan& plan,
                       const std::vector<int>& ranks,
                       const std::function<void(std::int64_t done, std::int64_t all)>& progress,
                       Budget* budget);

}  // namespace stowage::kernels
