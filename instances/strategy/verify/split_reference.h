// The least sum over the stages of one class and layout, over all splits of the layers and all
// choices whose memory fits, computed from the instance for the checks of proofs. Not installed.
//
//   const SplitReference splits(instance, truth, setting);
//   const Ms least = splits.least_sum([](std::int64_t stage, const StrategyReferenceModel::Stage& its) {
//     return its.time_ms;
//   });
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "instances/numeric/tolerances.h"
#include "instances/strategy/certificate.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/verify/reference_model.h"

namespace stowage {

class SplitReference {
 public:
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  // The three arguments must outlive this object.
  SplitReference(const StrategyInstance& instance, const StrategyReferenceModel& truth,
                 const StrategyReferenceModel::Setting& setting)
      : instance_(instance),
        truth_(truth),
        setting_(setting),
        chunks_(std::ranges::max(instance.options.logit_chunks)),
        listed_(setting.pp * (truth.layers_differ() ? truth.layers() : 1) * truth.layers() <=
                kMaxStrategyRanges) {
    if (listed_) known_.resize(static_cast<std::size_t>(setting.pp));
  }

  // Returns the least sum of cost(stage index, stage); infinite if no split fits.
  template <class Cost>
  double least_sum(Cost cost) const {
    const std::int64_t layers = truth_.layers();
    std::vector<double> best(static_cast<std::size_t>(layers) + 1, kNone);
    best[0] = 0;
    for (std::int64_t s = 0; s < setting_.pp; ++s) {
      std::vector<double> now(best.size(), kNone);
      std::map<std::int64_t, double> by_count;  // for equal layers
      for (std::int64_t before = 0; before < layers; ++before) {
        const double so_far = best[static_cast<std::size_t>(before)];
        if (so_far == kNone) continue;
        const std::int64_t most = layers - before - (setting_.pp - 1 - s);
        for (std::int64_t count = s + 1 == setting_.pp ? most : 1; count <= most; ++count) {
          if (!truth_.may_hold(setting_, s, count)) continue;
          double own = kNone;
          if (truth_.layers_differ()) {
            own = cheapest(s, before, count, cost);
          } else if (const auto known = by_count.find(count); known != by_count.end()) {
            own = known->second;
          } else {
            own = by_count[count] = cheapest(s, before, count, cost);
          }
          double& end = now[static_cast<std::size_t>(before + count)];
          end = std::min(end, so_far + own);
        }
      }
      best = std::move(now);
    }
    return best.back();
  }

  // SB4: returns a bound that no plan of this class and layout beats, at most `below`. If the bound
  // is less than `below`, the search stops at the first case that shows it. Returns 0 if there are
  // too many ranges of layers to list.
  Ms least_by_cases(Ms below) const {
    if (!listed_) return 0;
    Cases cases{*this, below, below, {}, {}};
    least_sum([&](std::int64_t, const StrategyReferenceModel::Stage& stage) {
      cases.times.push_back(stage.time_ms);
      cases.lefts.push_back(truth_.uncovered(stage));
      return 0.0;
    });
    for (std::vector<Ms>* values : {&cases.times, &cases.lefts}) {
      std::sort(values->begin(), values->end());
      values->erase(std::unique(values->begin(), values->end()), values->end());
    }
    if (!cases.times.empty()) cases.look({0, cases.times.size()}, {0, cases.lefts.size()});
    return cases.least;
  }

 private:
  using Part = std::pair<std::size_t, std::size_t>;  // range of values: from, to

  // Cases of plans by their slowest stage and the exchange that is left over. One of the cases
  // contains the best plan. A case whose bound is not below the least known value is dropped. A
  // case of one value each gives its bound as a value. A value below `below` ends the search, so
  // that a false claim is refused at once.
  struct Cases {
    const SplitReference& splits;
    Ms below;
    Ms least;
    std::vector<Ms> times;
    std::vector<Ms> lefts;

    void look(const Part& time, const Part& left) {
      if (least * (1 + kVerifierDiffers) < below) return;
      const Ms bound = bound_of(time, left);
      if (bound >= least) return;
      const std::size_t slow = time.second - time.first;
      const std::size_t long_ones = left.second - left.first;
      if (slow == 1 && long_ones == 1) {
        least = bound;
      } else if (slow >= long_ones) {
        const std::size_t middle = time.first + slow / 2;
        look({time.first, middle}, left);
        look({middle, time.second}, left);
      } else {
        const std::size_t middle = left.first + long_ones / 2;
        look(time, {left.first, middle});
        look(time, {middle, left.second});
      }
    }

    Ms bound_of(const Part& time, const Part& left) const {
      const auto least_of = [&](Ms StrategyReferenceModel::Stage::*part) {
        return splits.least_sum([&](std::int64_t, const StrategyReferenceModel::Stage& stage) {
          const bool of_case = stage.time_ms <= times[time.second - 1] &&
                               splits.truth_.uncovered(stage) <= lefts[left.second - 1];
          return of_case ? stage.*part : kNone;
        });
      };
      const Ms sum = least_of(&StrategyReferenceModel::Stage::time_ms);
      if (sum == kNone) return kNone;
      const double chunk = 1 / static_cast<double>(splits.setting_.v);
      const double rounds = static_cast<double>(splits.setting_.micro_batches) - chunk;
      // The slowest stage takes at least the mean of all stages.
      const Ms slowest = std::max(times[time.first], sum / static_cast<double>(splits.setting_.pp));
      const Ms steady = chunk * sum + rounds * slowest;
      return std::max(steady, least_of(&StrategyReferenceModel::Stage::longest_ms)) +
             lefts[left.first];
    }
  };

  template <class Cost>
  double cheapest(std::int64_t s, std::int64_t before, std::int64_t count, Cost cost) const {
    double least = kNone;
    const auto take = [&](const StrategyReferenceModel::Stage& stage) {
      least = std::min(least, cost(s, stage));
    };
    if (!listed_) {
      for_each_that_fits(s, before, count, take);
      return least;
    }
    const std::pair key{truth_.layers_differ() ? before : 0, count};
    auto& known = known_[static_cast<std::size_t>(s)];
    const auto [its, is_new] = known.try_emplace(key);
    std::vector<StrategyReferenceModel::Stage>& stages = its->second;
    if (is_new) {
      for_each_that_fits(s, before, count, [&](const StrategyReferenceModel::Stage& stage) {
        stages.push_back(stage);
      });
    }
    for (const StrategyReferenceModel::Stage& stage : stages) take(stage);
    return least;
  }

  template <class Take>
  void for_each_that_fits(std::int64_t s, std::int64_t before, std::int64_t count,
                          Take take) const {
    const std::vector<std::int64_t> its = truth_.layers_of(setting_, s, before, count);
    for (const std::int64_t zero : instance_.options.zero) {
      if (setting_.pp > 1 && zero > instance_.options.pipeline_zero) continue;
      for (const StrategyRecompute recompute : instance_.options.recompute) {
        for (const std::int64_t parts : truth_.stream_chunks(recompute)) {
          const StrategyReferenceModel::Stage stage =
              truth_.stage(setting_, s, its, zero, recompute, parts, chunks_);
          if (stage.memory_mib <= instance_.cluster.memory_mib * (1 + kVerifierDiffers))
            take(stage);
        }
      }
    }
  }

  using Range = std::pair<std::int64_t, std::int64_t>;  // layers before it, and its own layers

  const StrategyInstance& instance_;
  const StrategyReferenceModel& truth_;
  StrategyReferenceModel::Setting setting_;
  std::int64_t chunks_;
  bool listed_;  // whether there are few enough stages to keep them
  mutable std::vector<std::map<Range, std::vector<StrategyReferenceModel::Stage>>>
      known_;  // by stage
};

}  // namespace stowage
