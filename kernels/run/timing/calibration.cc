#include "kernels/run/timing/calibration.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/fit/fit.h"
#include "kernels/run/ranks/rank_pool.h"
#include "kernels/run/timing/pack_design.h"
#include "kernels/run/timing/timed_works.h"

namespace stowage::kernels {
namespace {

constexpr double kMsPerSecond = 1000;

// Returns the packs to measure. Of each degree's packs, two thirds are the packs most informative
// about the cost; every third is drawn at random and held out, as a sample of typical packs.
std::vector<CalibrationPack> packs_to_measure(const CalibrationOptions& options) {
  constexpr int kHeldOutEvery = 3;
  std::mt19937_64 random(options.seed);
  PackRange range{.degrees = options.degrees,
                  .packs = options.packs - options.packs / kHeldOutEvery,
                  .least_tokens = options.least_tokens,
                  .most_tokens = options.most_tokens,
                  .like = options.like};
  std::vector<PackShape> chosen = informative_packs(random, range);
  auto next = chosen.begin();
  std::vector<CalibrationPack> packs;
  for (const int degree : options.degrees) {
    for (int k = 0; k < options.packs; ++k) {
      const bool held_out = k % kHeldOutEvery == kHeldOutEvery - 1;
      PackShape shape = held_out ? random_pack(random, range, degree) : std::move(*next++);
      packs.push_back({.degree = degree,
                       .lengths = std::move(shape.lengths),
                       .seconds = kInfinity,
                       .held_out = held_out});
    }
  }
  return packs;
}

void set_times(const TimingRounds& rounds, std::vector<CalibrationPack>& packs) {
  const std::vector<RoundTime> times = rounds.times();
  for (std::size_t i = 0; i < packs.size(); ++i) {
    packs[i].seconds = times[i].seconds;
    packs[i].runs = static_cast<int>(rounds.runs(i));
    packs[i].steady = times[i].error <= kSteady;
  }
}

// Returns the MiB that a token sends and receives in a block: q, k, v and o forward, and their
// gradients backward. A kv head's gradient is sent once per query head (exchange/ulysses.h).
double exchanged_mib_per_token(const BlockShape& block) {
  constexpr double kFloatsPerMib = 1024 * 1024 / 4.0;
  const auto q = static_cast<double>(block.q_width());
  const auto k = static_cast<double>(block.k_width());
  return (2 * q + 2 * k + 2 * q + 2 * q) / kFloatsPerMib;
}

// Returns the smallest value that at least 95 % of the errors do not exceed. Requires at least one
// error.
double p95(std::vector<double> errors) {
  const auto rank = static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(errors.size())));
  std::ranges::sort(errors);
  return errors[rank - 1];
}

CalibrationError error_of(const std::vector<double>& errors) {
  if (errors.empty()) return {};
  return {std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size()),
          p95(errors)};
}

}  // namespace

Tokens CalibrationPack::tokens() const {
  return std::accumulate(lengths.begin(), lengths.end(), Tokens{0});
}

double CalibrationPack::squares() const {
  double sum = 0;
  for (const Tokens length : lengths)
    sum += static_cast<double>(length) * static_cast<double>(length);
  return sum;
}

double predicted_ms(const ScatterCost& cost, const CalibrationPack& pack) {
  const ScatterInstance here{.cost = cost};
  double ms = group_overhead_ms(here, pack.degree);
  for (const Tokens length : pack.lengths) ms += sequence_ms(here, length, pack.degree);
  return ms;
}

void fit_cost(const BlockShape& block, Calibration& calibration) {
  std::vector<TimedRow> rows;
  for (const CalibrationPack& pack : calibration.packs) {
    if (pack.held_out) continue;
    rows.push_back(
        {.degree = pack.degree, .lengths = pack.lengths, .ms = pack.seconds * kMsPerSecond});
  }
  const Result<CostFit> fit =
      stowage::fit_cost(rows, structure_of(rows, exchanged_mib_per_token(block)));
  assert(fit);
  calibration.cost = fit->cost;
  const ScatterCost& cost = calibration.cost;
  std::vector<double> fitted;
  std::vector<double> held_out;
  for (const CalibrationPack& pack : calibration.packs) {
    const double error = std::abs(predicted_ms(cost, pack) / (pack.seconds * kMsPerSecond) - 1);
    (pack.held_out ? held_out : fitted).push_back(error);
  }
  calibration.fitted = error_of(fitted);
  calibration.held_out = error_of(held_out);
}

Calibration calibrate(const CalibrationOptions& options, const CalibrationProgress& progress,
                      Budget* budget) {
  Calibration calibration{.packs = packs_to_measure(options)};
  std::vector<TimedWork> works;
  for (const CalibrationPack& pack : calibration.packs) {
    works.push_back({.cu_seqlens = starts_of(pack.lengths), .ranks = pack.degree});
  }
  const std::int64_t all = static_cast<std::int64_t>(works.size()) * options.repeats;
  std::int64_t done = 0;
  const Budget clock;
  const auto another = [&](int round, const TimingRounds& rounds) {
    if (round >= options.repeats) return false;
    set_times(rounds, calibration.packs);
    if (round >= options.least_repeats &&
        std::ranges::all_of(calibration.packs, &CalibrationPack::steady)) {
      return false;
    }
    return 2 * round < options.least_repeats ||
           clock.seconds() * (round + 1) <= options.seconds * round;
  };
  ThreadPool pool;
  const WorkTimes times = time_works(
      pool, {.block = options.block, .seed = options.seed}, works, another,
      [&] {
        if (progress) progress(++done, all);
      },
      budget);
  set_times(times.rounds, calibration.packs);
  calibration.problem = times.problem;
  if (times.stopped || times.failed >= 0) return calibration;
  if (progress && done < all) progress(all, all);
  calibration.complete = true;
  fit_cost(options.block, calibration);
  return calibration;
}

}  // namespace stowage::kernels
