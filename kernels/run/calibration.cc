#include "kernels/run/calibration.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "instances/numbers.h"
#include "instances/random.h"
#include "instances/scatter/cost_model.h"
#include "instances/scatter/fit/fit.h"
#include "kernels/block/synthetic.h"
#include "kernels/run/rank_pool.h"
#include "kernels/run/time_fit.h"

namespace stowage::kernels {
namespace {

constexpr double kMsPerSecond = 1000;

// A pack before it is measured.
struct Draw {
  int degree = 1;
  std::vector<std::int32_t> cu_seqlens;
};

// A whole number in [least, most], its logarithm uniform: short ones are as likely as long ones.
std::int64_t log_uniform(std::mt19937_64& random, std::int64_t least, std::int64_t most) {
  constexpr std::uint64_t kSteps = 1 << 20;
  const double share = static_cast<double>(draw(random, kSteps)) / kSteps;
  const double ratio = static_cast<double>(most) / static_cast<double>(least);
  return std::min(most,
                  static_cast<std::int64_t>(static_cast<double>(least) * std::pow(ratio, share)));
}

// Sequences of a typical length of their own, so that packs of one long sequence and packs of a
// hundred short ones both come up: otherwise s^2 and s could not be told apart.
Draw random_pack(std::mt19937_64& random, const CalibrationOptions& options, int degree) {
  constexpr std::int64_t kLeastSequence = 64;
  const std::int64_t tokens =
      log_uniform(random, std::min(options.least_tokens, options.most_tokens), options.most_tokens);
  const std::int64_t typical = log_uniform(random, std::min(kLeastSequence, tokens), tokens);
  Draw pack{.degree = degree, .cu_seqlens = {0}};
  std::int64_t at = 0;
  while (at < tokens) {
    const std::int64_t length =
        log_uniform(random, std::max<std::int64_t>(typical / 2, 1), typical * 2);
    at = std::min(tokens, at + length);
    pack.cu_seqlens.push_back(static_cast<std::int32_t>(at));
  }
  return pack;
}

CalibrationPack described(const Draw& pack, bool held_out) {
  CalibrationPack described{.degree = pack.degree, .seconds = kInfinity, .held_out = held_out};
  for (std::size_t i = 0; i + 1 < pack.cu_seqlens.size(); ++i) {
    described.lengths.push_back(pack.cu_seqlens[i + 1] - pack.cu_seqlens[i]);
  }
  return described;
}

// `second` is the time of the second fastest run so far.
void add_run(CalibrationPack& pack, double& second, double seconds) {
  second = std::min(second, std::max(seconds, pack.seconds));
  pack.seconds = std::min(pack.seconds, seconds);
  ++pack.runs;
  pack.steady = second <= pack.seconds * (1 + kSteady);
}

// MiB that a token sends and receives in a block: q, k, v and o forward, their gradients backward;
// a kv head's gradient travels once per query head (exchange/ulysses.h).
double exchanged_mib_per_token(const BlockShape& block) {
  constexpr double kFloatsPerMib = 1024 * 1024 / 4.0;
  const auto q = static_cast<double>(block.q_width());
  const auto k = static_cast<double>(block.k_width());
  return (2 * q + 2 * k + 2 * q + 2 * q) / kFloatsPerMib;
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
  const Result<CostFit> fit = stowage::fit_cost(
      rows, structure_of(rows, exchanged_mib_per_token(block)), {.per_sequence = false});
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
  constexpr int kHeldOutEvery = 3;
  std::mt19937_64 random(options.seed);
  Calibration calibration;
  std::vector<Draw> draws;
  for (const int degree : options.degrees) {
    for (int k = 0; k < options.packs; ++k) {
      draws.push_back(random_pack(random, options, degree));
      calibration.packs.push_back(described(draws.back(), k % kHeldOutEvery == kHeldOutEvery - 1));
    }
  }
  const BlockWeights<float> weights = synthetic_weights(options.block, options.seed);
  ThreadPool pool;
  pool.prepare({options.block, weights});
  const std::int64_t all = static_cast<std::int64_t>(draws.size()) * options.repeats;
  std::int64_t done = 0;
  std::vector<double> second(draws.size(), kInfinity);  // fastest run of each pack
  // Rounds over all packs, not runs of one pack after another: a machine that is slow for a moment
  // then slows one run of many packs, and the fastest of their runs count.
  for (int round = 0; round < options.repeats; ++round) {
    for (std::size_t i = 0; i < draws.size(); ++i) {
      ++done;
      if (round >= options.least_repeats && calibration.packs[i].steady) continue;
      if (budget != nullptr && budget->exhausted()) return calibration;
      const auto rows = static_cast<std::size_t>(draws[i].cu_seqlens.back());
      std::vector<float> x(rows * static_cast<std::size_t>(options.block.hidden));
      std::vector<float> upstream(x.size());
      const auto sequence = static_cast<std::int64_t>(i);
      fill_tokens({options.seed, Stream::input}, sequence, 0, options.block.hidden, x);
      fill_tokens({options.seed, Stream::upstream}, sequence, 0, options.block.hidden, upstream);
      const GroupWork work{.task = {.cu_seqlens = draws[i].cu_seqlens,
                                    .tokens = draws[i].cu_seqlens.back(),
                                    .ranks = draws[i].degree},
                           .x = x,
                           .upstream = upstream};
      const GroupOutput out = std::move(pool.run({&work, 1}).front());
      if (out.error) {
        calibration.problem = "rank " + std::to_string(out.error->rank) + ": " + out.error->message;
        return calibration;
      }
      add_run(calibration.packs[i], second[i], out.seconds);
      if (progress) progress(done, all);
    }
  }
  calibration.complete = true;
  fit_cost(options.block, calibration);
  return calibration;
}

}  // namespace stowage::kernels
