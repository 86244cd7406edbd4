#include "heuristics/strategy/threshold_split.h"

#include <algorithm>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/stage_split.h"

namespace stowage {

StageOptions::StageOptions(const StageCosts& costs)
    : costs_(costs),
      layers_(costs.table().layers()),
      firsts_(costs.table().equal_layers() ? 1 : layers_) {
  const std::span<const StageChoice> choices = costs.choices();
  const Mib room = costs.table().instance().cluster.memory_mib;
  const std::size_t ranges = at(costs.of_class().pp * firsts_ * (layers_ + 1));
  ms_.assign(choices.size(), std::vector<Ms>(ranges, kInfinity));
  quickest_.assign(ranges, 0);
  for (std::int64_t stage = 0; stage < costs.of_class().pp; ++stage) {
    for (std::int64_t first = 0; first < firsts_; ++first) {
      for (std::int64_t its = 1; first + its <= layers_; ++its) {
        if (!costs.may_have(stage, its)) continue;
        const std::size_t here = place(stage, first, its);
        for (std::size_t k = 0; k < choices.size(); ++k) {
          const StageCost cost = costs.of(stage, first, its, choices[k]);
          if (cost.memory_mib > room) continue;
          ms_[k][here] = cost.time_ms;
          if (cost.time_ms < ms_[quickest_[here]][here]) quickest_[here] = k;
        }
      }
    }
  }
}

std::size_t StageOptions::place(std::int64_t stage, std::int64_t first, std::int64_t layers) const {
  return at((stage * firsts_ + (firsts_ == 1 ? 0 : first)) * (layers_ + 1) + layers);
}

StageOptions::Option StageOptions::of(std::int64_t stage, std::int64_t first, std::int64_t layers,
                                      std::optional<std::size_t> only) const {
  const std::size_t here = place(stage, first, layers);
  const std::size_t choice = only.value_or(quickest_[here]);
  return {ms_[choice][here], costs_.table().choices()[choice]};
}

std::vector<Ms> StageOptions::times(std::optional<std::size_t> only) const {
  std::vector<Ms> all;
  for (std::size_t here = 0; here < quickest_.size(); ++here) {
    const Ms ms = ms_[only.value_or(quickest_[here])][here];
    if (ms < kInfinity) all.push_back(ms);
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<StagePlan> stages_by_thresholds(const StageCosts& costs, const StageOptions& options,
                                            std::optional<std::size_t> only, Ms below) {
  const double chunk = 1 / static_cast<double>(costs.of_class().v);
  const double rounds = static_cast<double>(costs.of_class().micro_batches) - chunk;
  // Returns the split with the least sum of stage times, each at most `most`.
  const auto least_sum = [&](Ms most) {
    return best_split(
        costs, 0.0,
        [&](std::int64_t stage, std::int64_t first, std::int64_t layers) {
          const Ms ms = options.of(stage, first, layers, only).ms;
          return ms <= most ? ms : kInfinity;
        },
        [](double a, double b) { return a + b; });
  };
  const Ms least = least_sum(kInfinity).value;
  if (least == kInfinity) return {};
  // The least possible time of a slowest stage; no split exists for smaller thresholds.
  const Ms slowest = best_split(
                         costs, 0.0,
                         [&](std::int64_t stage, std::int64_t first, std::int64_t layers) {
                           return options.of(stage, first, layers, only).ms;
                         },
                         [](double a, double b) { return std::max(a, b); })
                         .value;
  Ms best = below;
  StageSplit kept;
  for (const Ms most : options.times(only)) {
    if (most < slowest) continue;
    if (chunk * least + rounds * most >= best) break;
    StageSplit split = least_sum(most);
    const Ms steady = chunk * split.value + rounds * most;
    if (steady >= best) continue;
    best = steady;
    kept = std::move(split);
  }
  std::vector<StagePlan> stages;
  std::int64_t first = 0;
  for (const std::int64_t layers : kept.layers) {
    stages.push_back({layers, options.of(std::ssize(stages), first, layers, only).choice});
    first += layers;
  }
  return stages;
}

}  // namespace stowage
