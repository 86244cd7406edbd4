// Times packed batches in rounds: every batch runs once per round, in a random order.
//
//   WorkTimes times = time_works(pool, {.block = block}, works, another_round, {}, nullptr);
//   times.rounds.times()[work].seconds
//
// A run is one block, forward and backward, over synthetic tokens. Its time is the thread CPU
// seconds of the busiest rank (GroupOutput::seconds), the mean over the kinds of layers by their
// shares.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "instances/units.h"
#include "kernels/block/block_weights.h"
#include "kernels/run/ranks/rank_pool.h"
#include "kernels/run/scaled_plan.h"
#include "kernels/run/timing/timing_rounds.h"

namespace stowage::kernels {

struct TimedWork {
  std::vector<std::int32_t> cu_seqlens;  // starts of the sequences and their end
  int ranks = 1;
  Exchange exchange;
};

// Returns the starts of sequences of these lengths, and their end. Requires a sum below 2^31.
std::vector<std::int32_t> starts_of(const std::vector<Tokens>& lengths);

struct WorkModel {
  BlockShape block;
  std::vector<LayerKind> layers = std::vector<LayerKind>(1);
  std::uint64_t seed = 0;  // seed of tokens and weights
  int threads = 1;         // of each rank
};

struct WorkTimes {
  TimingRounds rounds;
  int failed = -1;       // index of the work that ended the rounds with an error, or -1
  std::string problem;   // its error message, or empty
  bool stopped = false;  // true if the budget ended the rounds
};

// `another` is called before each round with the number of rounds so far, and ends them by false.
// `progress` is called after every run; both may be empty, without `another` there is one round.
// `budget` may be null. Prepares the pool, which must be prepared again before its next use.
WorkTimes time_works(RankPool& pool, const WorkModel& model, std::span<const TimedWork> works,
                     const std::function<bool(int round, const TimingRounds& rounds)>& another,
                     const std::function<void()>& progress, Budget* budget);

}  // namespace stowage::kernels
