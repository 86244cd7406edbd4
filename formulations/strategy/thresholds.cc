#include "formulations/strategy/thresholds.h"

#include <algorithm>
#include <cstddef>
#include <queue>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/stage_split.h"

namespace stowage {
namespace {

constexpr double kMemoryMargin = 1 + 2e-9;  // memory that a check may accept by rounding fits
// Share of `enough` that suffices: half of the tolerance of a check.
constexpr double kNearly = 1 - 5e-10;

class Thresholds {
 public:
  explicit Thresholds(const StageCosts& costs)
      : costs_(costs),
        layers_(costs.table().layers()),
        firsts_(costs.table().equal_layers() ? 1 : layers_),
        chunk_(1 / static_cast<double>(costs.of_class().v)),
        rounds_(static_cast<double>(costs.of_class().micro_batches) - chunk_) {
    list_options();
  }

  Ms run(Ms enough, const Budget& budget) {
    if (times_.empty()) return kInfinity;
    std::priority_queue<Case, std::vector<Case>, std::greater<>> open;
    const auto add = [&](Case its) {
      its.bound = bound_of(its);
      if (its.bound < enough * kNearly) open.push(its);
    };
    add({.last_time = times_.size() - 1, .last_left = lefts_.size() - 1});
    while (!open.empty()) {
      const Case its = open.top();
      const Ms of_times = rounds_ * (times_[its.last_time] - times_[its.first_time]);
      const Ms of_lefts = lefts_[its.last_left] - lefts_[its.first_left];
      const bool single = its.first_time == its.last_time && its.first_left == its.last_left;
      if (single || budget.exhausted()) return its.bound;
      open.pop();
      Case lower = its;
      Case upper = its;
      if (its.first_left == its.last_left ||
          (its.first_time < its.last_time && of_times >= of_lefts)) {
        lower.last_time = (its.first_time + its.last_time) / 2;
        upper.first_time = lower.last_time + 1;
      } else {
        lower.last_left = (its.first_left + its.last_left) / 2;
        upper.first_left = lower.last_left + 1;
      }
      add(lower);
      add(upper);
    }
    return enough;
  }

 private:
  struct Option {
    Ms time = 0;
    Ms left = 0;
    Ms alone = 0;
  };
  // Plans whose slowest stage, and whose longest exposed exchange, are in these ranges.
  struct Case {
    std::size_t first_time = 0;
    std::size_t last_time = 0;
    std::size_t first_left = 0;
    std::size_t last_left = 0;
    Ms bound = 0;

    bool operator>(const Case& other) const { return bound > other.bound; }
  };

  std::size_t place(std::int64_t stage, std::int64_t first, std::int64_t layers) const {
    return at((stage * firsts_ + (firsts_ == 1 ? 0 : first)) * (layers_ + 1) + layers);
  }

  void list_options() {
    const std::int64_t stages = costs_.of_class().pp;
    const Mib room = costs_.table().instance().cluster.memory_mib * kMemoryMargin;
    options_.resize(at(stages * firsts_ * (layers_ + 1)));
    for (std::int64_t stage = 0; stage < stages; ++stage) {
      for (std::int64_t first = 0; first < firsts_; ++first) {
        if (firsts_ > 1 && (first < stage || (stage == 0 && first > 0))) continue;
        for (std::int64_t layers = 1; first + layers <= layers_; ++layers) {
          if (!costs_.may_have(stage, layers)) continue;
          std::vector<Option>& its = options_[place(stage, first, layers)];
          for (const StageChoice& choice : costs_.choices()) {
            const StageCost cost = costs_.of(stage, first, layers, choice);
            if (cost.memory_mib > room) continue;
            its.push_back({cost.time_ms, costs_.exposed(cost), cost.longest_ms});
            times_.push_back(cost.time_ms);
            lefts_.push_back(costs_.exposed(cost));
          }
        }
      }
    }
    for (std::vector<Ms>* values : {&times_, &lefts_}) {
      std::ranges::sort(*values);
      values->erase(std::unique(values->begin(), values->end()), values->end());
    }
  }

  // Returns the least sum of `part` over all splits whose stages take at most `most_time` and leave
  // at most `most_left` exposed.
  Ms least_sum(Ms most_time, Ms most_left, Ms Option::*part) const {
    return best_split(
               costs_, 0.0,
               [&](std::int64_t stage, std::int64_t first, std::int64_t layers) {
                 Ms least = kInfinity;
                 for (const Option& option : options_[place(stage, first, layers)]) {
                   if (option.time > most_time || option.left > most_left) continue;
                   least = std::min(least, option.*part);
                 }
                 return least;
               },
               [](double a, double b) { return a + b; })
        .value;
  }

  Ms bound_of(const Case& its) const {
    const Ms most_time = times_[its.last_time];
    const Ms most_left = lefts_[its.last_left];
    const Ms sum = least_sum(most_time, most_left, &Option::time);
    if (sum == kInfinity) return kInfinity;
    const Ms slowest =
        std::max(times_[its.first_time], sum / static_cast<double>(costs_.of_class().pp));
    const Ms alone = least_sum(most_time, most_left, &Option::alone);
    return std::max(chunk_ * sum + rounds_ * slowest, alone) + lefts_[its.first_left];
  }

  const StageCosts& costs_;
  const std::int64_t layers_;
  const std::int64_t firsts_;  // number of distinct first layers of a stage
  const double chunk_;
  const double rounds_;
  std::vector<std::vector<Option>> options_;  // by stage, first layer and layers
  std::vector<Ms> times_;                     // times of stages, ascending
  std::vector<Ms> lefts_;
};

// Returns the bound of a class that admits thresholds or has one stage.
Ms with_thresholds(const StrategyTable& table, StrategyCertificate::Class& its, Ms enough,
                   const Budget& budget) {
  const StrategyClass of_class{its.pp, its.v, its.micro_batches};
  Ms least = kInfinity;
  for (const StrategyLayout& layout : table.layouts(of_class)) {
    const StageCosts costs(table, of_class, layout);
    const Ms most = std::min(enough, least);
    Ms bound = costs.area();
    if (bound < most) bound = std::max(bound, priced_bound(costs, its.prices));
    if (bound < most && its.pp > 1) {
      its.thresholds = true;
      bound = std::max(bound, threshold_bound(costs, most, budget));
    }
    least = std::min(least, bound);
  }
  return least;
}

}  // namespace

bool admits_thresholds(const StageCosts& costs) {
  const std::int64_t layers = costs.table().layers();
  const std::int64_t firsts = costs.table().equal_layers() ? 1 : layers;
  return costs.of_class().pp * firsts * layers <= kMaxStrategyRanges;
}

Ms threshold_bound(const StageCosts& costs, Ms enough, const Budget& budget) {
  return std::min(Thresholds(costs).run(enough, budget), enough);
}

void sharpen(const StrategyTable& table, StrategyCertificate& certificate, Ms enough,
             const Budget& budget, const PriceRounds& rounds) {
  Ms bound = kInfinity;
  for (StrategyCertificate::Class& its : certificate.classes) {
    const StrategyClass of_class{its.pp, its.v, its.micro_batches};
    const StageCosts any(table, of_class, table.layouts(of_class).front());
    bound = std::min(bound, its.pp == 1 || admits_thresholds(any)
                                ? with_thresholds(table, its, enough, budget)
                                : raise_prices(table, its, enough, budget, rounds));
  }
  certificate.bound_ms = bound;
}

}  // namespace stowage
