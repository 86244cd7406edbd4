#include "kernels/run/timing/batch_times.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <span>
#include <utility>

#include "instances/numeric/random.h"
#include "instances/regression/robust.h"
#include "kernels/run/timing/pack_design.h"

namespace stowage::kernels {
namespace {

constexpr std::size_t kTerms = 4;  // quadratic, linear, sequence, fixed

// Returns the sum of s^2 over the sequences, less the pairs that windows hide.
double squares(std::span<const std::int32_t> starts, const std::vector<LayerKind>& layers) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    const double s = starts[i + 1] - starts[i];
    for (const LayerKind& layer : layers) {
      const auto window = static_cast<double>(layer.window);
      const double hidden = window > 0 ? std::max(0.0, s - window) : 0;
      sum += layer.share * (s * s - hidden * hidden);
    }
  }
  return sum;
}

void add_row(Design& design, const TimedWork& work, const std::vector<LayerKind>& layers) {
  const std::vector<std::int32_t>& starts = work.cu_seqlens;
  design.columns = kTerms;
  design.values.insert(design.values.end(),
                       {squares(starts, layers), static_cast<double>(starts.back()),
                        static_cast<double>(starts.size() - 1), 1.0});
}

// The batches that have one number of ranks, and the packs like them.
struct RankClass {
  std::vector<std::size_t> batches;
  std::size_t first_pack = 0;  // among all works
  std::size_t packs = 0;
};

// Returns the starts of a pack whose sequences are those of a batch with varied lengths.
std::vector<std::int32_t> varied(std::mt19937_64& random, const std::vector<std::int32_t>& batch) {
  std::vector<Tokens> lengths;
  for (std::size_t i = 0; i + 1 < batch.size(); ++i) lengths.push_back(batch[i + 1] - batch[i]);
  return starts_of(varied_lengths(random, lengths));
}

}  // namespace

std::optional<double> BatchTime::deviation() const {
  if (!predicted_s) return std::nullopt;
  return std::abs(*predicted_s / seconds - 1);
}

BatchTimes batch_times(RankPool& pool, const BatchTimesOptions& options, const ScaledPlan& plan,
                       const std::vector<int>& ranks,
                       const std::function<void(std::int64_t done, std::int64_t all)>& progress,
                       Budget* budget) {
  std::vector<TimedWork> works;
  std::map<int, RankClass> classes;
  for (std::size_t b = 0; b < plan.batches.size(); ++b) {
    const ScaledBatch& batch = plan.batches[b];
    TimedWork work{.cu_seqlens = batch.cu_seqlens, .ranks = ranks[b], .exchange = options.exchange};
    if (batch.cuts.empty()) {
      classes[ranks[b]].batches.push_back(b);
    } else {
      work.exchange = {
          .kind = ExchangeKind::chunked, .retained = batch.retained, .cuts = batch.cuts};
    }
    works.push_back(std::move(work));
  }
  std::mt19937_64 random(options.model.seed);
  for (auto& [degree, own] : classes) {
    own.first_pack = works.size();
    own.packs = static_cast<std::size_t>(
        std::clamp(static_cast<int>(own.batches.size()), options.least_packs, options.most_packs));
    for (std::size_t k = 0; k < own.packs; ++k) {
      const std::size_t b = own.batches[draw(random, own.batches.size())];
      works.push_back({.cu_seqlens = varied(random, plan.batches[b].cu_seqlens),
                       .ranks = degree,
                       .exchange = options.exchange});
    }
  }
  const std::size_t count = plan.batches.size();
  BatchTimes found{.packs = static_cast<int>(works.size() - count)};
  const auto all = static_cast<std::int64_t>(works.size()) * options.rounds;
  std::int64_t done = 0;
  const WorkTimes times = time_works(
      pool, options.model, works,
      [&](int round, const TimingRounds&) { return round < options.rounds; },
      [&] {
        if (progress) progress(++done, all);
      },
      budget);
  if (times.failed >= 0) {
    const auto w = static_cast<std::size_t>(times.failed);
    found.problem =
        (w < count ? plan.batches[w].name : "a pack of the timing") + ": " + times.problem;
  }
  if (times.stopped || times.failed >= 0) return found;
  const std::vector<RoundTime> seen = times.rounds.times();
  found.batches.resize(count);
  for (std::size_t b = 0; b < count; ++b) {
    found.batches[b].seconds = seen[b].seconds;
  }
  for (const auto& [degree, own] : classes) {
    Design packs;
    std::vector<double> measured;
    for (std::size_t k = own.first_pack; k < own.first_pack + own.packs; ++k) {
      add_row(packs, works[k], options.model.layers);
      measured.push_back(seen[k].seconds);
    }
    const Regression fit = regress(packs, measured);
    for (const std::size_t b : own.batches) {
      Design row;
      add_row(row, works[b], options.model.layers);
      found.batches[b].predicted_s = row.times(0, fit.coefficients);
    }
  }
  return found;
}

}  // namespace stowage::kernels
