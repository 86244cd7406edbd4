#include "heuristics/strategy/published.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "instances/numbers.h"
#include "instances/strategy/compose.h"
#include "instances/strategy/stage_split.h"

namespace stowage {
namespace {

// Calls make(costs) for every class without chunks and every layout, those with little work first,
// and keeps the fastest plan that fits.
template <class Make>
std::optional<StrategyPlan> best_of_layouts(const StrategyTable& table, const Budget& budget,
                                            Make make) {
  struct Open {
    Ms area = 0;
    StageCosts costs;
  };
  std::vector<Open> open;
  for (const StrategyClass& its : table.classes()) {
    if (its.v != 1) continue;
    for (const StrategyLayout& layout : table.layouts(its)) {
      const StageCosts costs(table, its, layout);
      open.push_back({costs.area(), costs});
    }
  }
  std::ranges::stable_sort(open, {}, &Open::area);
  std::optional<StrategyPlan> best;
  for (const Open& each : open) {
    if (best && (each.area >= best->step_ms || budget.exhausted())) break;
    const std::vector<StagePlan> stages = make(each.costs);
    if (stages.empty()) continue;
    StrategyPlan plan = compose_strategy(each.costs, stages);
    if (!fits(table.instance(), plan)) continue;
    if (!best || plan.step_ms < best->step_ms) best = std::move(plan);
  }
  return best;
}

// Stages of Galvatron's division, each with its cheapest choice; none if one has no choice.
std::vector<StagePlan> divided_evenly(const StageCosts& costs) {
  const std::int64_t stages = costs.of_class().pp;
  const std::int64_t layers = costs.table().layers();
  const Mib room = std::floor(costs.table().instance().cluster.memory_mib);
  std::vector<StagePlan> found;
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    const std::int64_t first = stage * (layers / stages);
    const std::int64_t its = stage == stages - 1 ? layers - first : layers / stages;
    double least = kInfinity;
    StageChoice choice;
    for (const StageChoice& each : costs.table().choices()) {
      const StageCost cost = costs.of(stage, first, its, each);
      if (std::ceil(cost.memory_mib) > room) continue;
      const double ms =
          static_cast<double>(costs.of_class().micro_batches) * cost.time_ms + costs.exposed(cost);
      if (ms < least) least = ms, choice = each;
    }
    if (least == kInfinity) return {};
    found.push_back({its, choice});
  }
  return found;
}

// The quickest choice of a stage that fits.
struct Quickest {
  Ms ms = kInfinity;
  StageChoice choice;
};

Quickest quickest(const StageCosts& costs, std::int64_t stage, std::int64_t first,
                  std::int64_t layers) {
  Quickest found;
  for (const StageChoice& choice : costs.table().choices()) {
    const StageCost its = costs.of(stage, first, layers, choice);
    if (its.memory_mib > costs.table().instance().cluster.memory_mib) continue;
    if (its.time_ms < found.ms) found = {its.time_ms, choice};
  }
  return found;
}

// The quickest choices of all stages with any layers, counted once.
class QuickestStages {
 public:
  explicit QuickestStages(const StageCosts& costs)
      : costs_(costs),
        layers_(costs.table().layers()),
        firsts_(costs.table().equal_layers() ? 1 : layers_),
        known_(at(costs.of_class().pp * firsts_ * (layers_ + 1))) {
    for (std::int64_t stage = 0; stage < costs.of_class().pp; ++stage) {
      for (std::int64_t first = 0; first < firsts_; ++first) {
        for (std::int64_t its = 1; first + its <= layers_; ++its) {
          known_[place(stage, first, its)] = quickest(costs, stage, first, its);
        }
      }
    }
  }

  const Quickest& of(std::int64_t stage, std::int64_t first, std::int64_t layers) const {
    return known_[place(stage, firsts_ == 1 ? 0 : first, layers)];
  }

  // Each time that some stage takes, ascending.
  std::vector<Ms> times() const {
    std::vector<Ms> all;
    for (const Quickest& each : known_) {
      if (each.ms < kInfinity) all.push_back(each.ms);
    }
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  // The least sum of times, none of which is above `most`.
  StageSplit least_sum(Ms most) const {
    return best_split(
        costs_, 0.0,
        [&](std::int64_t stage, std::int64_t first, std::int64_t layers) {
          const Ms ms = of(stage, first, layers).ms;
          return ms <= most ? ms : kInfinity;
        },
        [](double a, double b) { return a + b; });
  }

 private:
  std::size_t place(std::int64_t stage, std::int64_t first, std::int64_t layers) const {
    return at((stage * firsts_ + first) * (layers_ + 1) + layers);
  }

  const StageCosts& costs_;
  const std::int64_t layers_;
  const std::int64_t firsts_;  // layers that a stage may begin with, as far as they differ
  std::vector<Quickest> known_;
};

std::vector<StagePlan> by_thresholds(const StageCosts& costs) {
  const QuickestStages quick(costs);
  const auto rounds = static_cast<double>(costs.of_class().micro_batches - 1);
  const Ms least = quick.least_sum(kInfinity).value;
  if (least == kInfinity) return {};
  // The least time of a slowest stage: below it no split is left.
  const Ms slowest = best_split(
                         costs, 0.0,
                         [&](std::int64_t stage, std::int64_t first, std::int64_t layers) {
                           return quick.of(stage, first, layers).ms;
                         },
                         [](double a, double b) { return std::max(a, b); })
                         .value;
  Ms best = kInfinity;
  StageSplit kept;
  for (const Ms most : quick.times()) {
    if (most < slowest) continue;
    if (least + rounds * most >= best) break;
    StageSplit split = quick.least_sum(most);
    if (split.value + rounds * most >= best) continue;
    best = split.value + rounds * most;
    kept = std::move(split);
  }
  std::vector<StagePlan> stages;
  std::int64_t first = 0;
  for (const std::int64_t layers : kept.layers) {
    stages.push_back({layers, quick.of(std::ssize(stages), first, layers).choice});
    first += layers;
  }
  return stages;
}

}  // namespace

std::optional<StrategyPlan> galvatron(const StrategyTable& table, const Budget& budget) {
  return best_of_layouts(table, budget, divided_evenly);
}

std::optional<StrategyPlan> alpa(const StrategyTable& table, const Budget& budget) {
  return best_of_layouts(table, budget, by_thresholds);
}

}  // namespace stowage
