#include "solvers/strategy/explain/rate_switch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "instances/strategy/cost/price.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/fit/fit_rates.h"
#include "instances/strategy/plan_builder.h"
#include "instances/strategy/planning_table.h"

namespace stowage {
namespace {

// Factors tried in ascending order. Bisection between two neighbouring factors finds the least one.
constexpr std::array<double, 9> kLadder = {1.03, 1.06, 1.1,  1.15,          1.22,
                                           1.33, 1.5,  1.75, kMaxRateFactor};
constexpr int kHalvings = 8;
// relative difference below which two configurations are equally fast
constexpr double kFaster = 1e-9;

struct Candidate {
  StrategyClass its;
  StrategyLayout layout;
  StageChoice choice;
  Ms step_ms = 0;  // step time with the instance's rates
};

std::vector<StagePlan> stages_of(const StrategyPlan& plan) {
  std::vector<StagePlan> stages;
  for (const StrategyStage& stage : plan.stages) stages.push_back({stage.layers, choice_of(stage)});
  return stages;
}

std::vector<StagePlan> stages_of(const StrategyTable& table, const Candidate& candidate) {
  std::vector<StagePlan> stages;
  for (const std::int64_t layers : dealt_layers(table.layers(), candidate.its.pp)) {
    stages.push_back({layers, candidate.choice});
  }
  return stages;
}

bool is_of(const StrategyPlan& plan, const Candidate& its) {
  const StrategyStage& first = plan.stages.front();
  return plan.pp == its.its.pp && plan.v == its.its.v &&
         plan.micro_batches == its.its.micro_batches && layout_of(plan) == its.layout &&
         first.zero == its.choice.zero && first.recompute == its.choice.recompute &&
         first.stream_chunks == its.choice.stream_chunks;
}

// Prices configurations with one table of an instance whose rates were changed.
class Prices {
 public:
  explicit Prices(StrategyInstance instance) : instance_(std::move(instance)), table_(instance_) {}

  StrategyPlan of(const StrategyPlan& plan) const {
    const StageCosts costs(table_, {plan.pp, plan.v, plan.micro_batches}, layout_of(plan));
    return compose_strategy(costs, stages_of(plan));
  }
  StrategyPlan of(const Candidate& candidate) const {
    const StageCosts costs(table_, candidate.its, candidate.layout);
    return compose_strategy(costs, stages_of(table_, candidate));
  }

 private:
  StrategyInstance instance_;
  StrategyTable table_;
};

bool may_have(const StageCosts& costs, const std::vector<std::int64_t>& layers) {
  for (std::size_t s = 0; s < layers.size(); ++s) {
    if (!costs.may_have(static_cast<std::int64_t>(s), layers[s])) return false;
  }
  return true;
}

// Returns all candidates that fit and take at most `most` ms, the fastest first.
std::vector<Candidate> candidates_below(const StrategyInstance& instance, Ms most) {
  const StrategyTable table(instance);
  std::vector<Candidate> found;
  for (const StrategyClass& its : table.classes()) {
    for (const StrategyLayout& layout : table.layouts(its)) {
      const StageCosts costs(table, its, layout);
      if (costs.area() > most || !may_have(costs, dealt_layers(table.layers(), its.pp))) continue;
      for (const StageChoice& choice : costs.choices()) {
        Candidate candidate{its, layout, choice};
        const StrategyPlan plan = compose_strategy(costs, stages_of(table, candidate));
        candidate.step_ms = plan.step_ms;
        if (plan.step_ms <= most && fits(instance, plan)) found.push_back(candidate);
      }
    }
  }
  std::ranges::stable_sort(found, {}, &Candidate::step_ms);
  return found;
}

std::string pointer_of(std::string_view rate) {
  if (rate == "inside" || rate == "across") return "/cluster/mib_per_ms/" + std::string(rate);
  const bool first = rate == "linear_tflops" || rate == "attention_tflops";
  return (first ? "/cost/" : "/cost/detail/") + std::string(rate);
}

class Search {
 public:
  Search(const StrategyInstance& instance, const StrategyPlan& plan)
      : instance_(instance), plan_(plan) {
    plan_ms_ = Prices(instance).of(plan).step_ms;
    candidates_ = candidates_below(instance, kMaxRateFactor * plan_ms_);
    std::erase_if(candidates_, [&](const Candidate& its) { return is_of(plan, its); });
  }

  // Returns the fastest other configuration if it is faster than the plan with the instance's
  // rates.
  std::optional<StrategyPlan> faster() const {
    if (candidates_.empty() || candidates_.front().step_ms >= plan_ms_ * (1 - kFaster)) {
      return std::nullopt;
    }
    return Prices(instance_).of(candidates_.front());
  }

  std::optional<RateSwitch> least_change(std::string_view rate) const {
    std::optional<RateSwitch> up = least_change(rate, false);
    std::optional<RateSwitch> down = least_change(rate, true);
    if (!up || (down && 1 / down->factor() < up->factor())) return down;
    return up;
  }

 private:
  std::optional<RateSwitch> least_change(std::string_view rate, bool down) const {
    double below = 1;
    for (const double factor : kLadder) {
      std::optional<RateSwitch> found = at_factor(rate, down, factor);
      if (!found) {
        below = factor;
        continue;
      }
      double above = factor;
      for (int k = 0; k < kHalvings; ++k) {
        const double middle = std::sqrt(below * above);
        if (std::optional<RateSwitch> nearer = at_factor(rate, down, middle)) {
          found = std::move(nearer);
          above = middle;
        } else {
          below = middle;
        }
      }
      return found;
    }
    return std::nullopt;
  }

  // Returns the fastest other configuration if it is faster than the plan with this factor on the
  // rate. A rate that changes by a factor changes no time by more than the factor, so slower
  // candidates are skipped.
  std::optional<RateSwitch> at_factor(std::string_view rate, bool down, double factor) const {
    StrategyInstance changed = instance_;
    double* value = rate_named(changed, rate);
    if (value == nullptr || !(*value > 0)) return std::nullopt;
    RateSwitch its{.rate = std::string(rate), .pointer = pointer_of(rate), .from = *value};
    *value = down ? *value / factor : *value * factor;
    if (changed.cost.detail && changed.cost.detail->expert_slowdown < 1) return std::nullopt;
    its.to = *value;
    const Prices prices(std::move(changed));
    its.plan_ms = prices.of(plan_).step_ms;
    Ms best = its.plan_ms * (1 - kFaster);
    bool found = false;
    for (const Candidate& candidate : candidates_) {
      if (candidate.step_ms > plan_ms_ * factor * (1 + kFaster)) break;
      StrategyPlan other = prices.of(candidate);
      if (other.step_ms >= best) continue;
      best = other.step_ms;
      its.other = std::move(other);
      found = true;
    }
    if (!found) return std::nullopt;
    return its;
  }

  const StrategyInstance& instance_;
  const StrategyPlan& plan_;
  Ms plan_ms_ = 0;
  std::vector<Candidate> candidates_;
};

}  // namespace

RateSwitches rate_switches(const StrategyInstance& instance, const StrategyPlan& plan) {
  const Search search(instance, plan);
  RateSwitches found{.faster = search.faster(), .changes = {}};
  if (found.faster) return found;
  for (const std::string_view rate : rate_names()) {
    if (std::optional<RateSwitch> its = search.least_change(rate))
      found.changes.push_back(*std::move(its));
  }
  const auto size = [](const RateSwitch& its) { return std::abs(std::log(its.factor())); };
  std::ranges::stable_sort(found.changes, {}, size);
  return found;
}

}  // namespace stowage
