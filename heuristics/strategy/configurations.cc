#include "heuristics/strategy/configurations.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "heuristics/strategy/published.h"
#include "heuristics/strategy/threshold_split.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/price.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/cost/stage_split.h"
#include "instances/strategy/plan_builder.h"

namespace stowage {
namespace {

// Returns the plan whose stages have equal numbers of layers and the same choice, or nullopt if the
// class or the memory does not allow it. If pp does not divide the layers, the embedding and the
// head count as one layer each.
std::optional<StrategyPlan> equal_stages(const StageCosts& costs, const StageChoice& choice) {
  const std::int64_t stages = costs.of_class().pp;
  const std::int64_t layers = costs.table().layers();
  const bool ends = costs.table().has_vocabulary() && (layers + 2) % stages == 0;
  if (layers % stages != 0 && !ends) return std::nullopt;
  std::vector<StagePlan> all;
  for (const std::int64_t its : dealt_layers(layers, stages)) {
    if (!costs.may_have(std::ssize(all), its)) return std::nullopt;
    all.push_back({its, choice});
  }
  StrategyPlan plan = compose_strategy(costs, all);
  if (!fits(costs.table().instance(), plan)) return std::nullopt;
  return plan;
}

void keep_faster(std::optional<StrategyPlan>& best, std::optional<StrategyPlan> other) {
  if (other && (!best || other->step_ms < best->step_ms)) best = std::move(other);
}

// Returns the fitting choice with the least area of a stage, and that area in ms. The area is
// infinite if no choice fits.
struct Area {
  double ms = kInfinity;
  StageChoice choice;
};

Area least_area(const StageCosts& costs, std::int64_t stage, std::int64_t first,
                std::int64_t layers) {
  const auto p = static_cast<double>(costs.of_class().pp);
  const auto m = static_cast<double>(costs.of_class().micro_batches);
  const double rounds = m + (p - 1) / static_cast<double>(costs.of_class().v);
  Area least;
  for (const StageChoice& choice : costs.choices()) {
    const StageCost its = costs.of(stage, first, layers, choice);
    if (its.memory_mib > costs.table().instance().cluster.memory_mib) continue;
    const double ms = (rounds * its.time_ms + costs.exposed(its)) / p;
    if (ms < least.ms) least = {ms, choice};
  }
  return least;
}

std::optional<StrategyPlan> least_area_stages(const StageCosts& costs, Ms below) {
  const StageSplit split = best_split(
      costs, 0.0,
      [&](std::int64_t stage, std::int64_t first, std::int64_t layers) {
        return least_area(costs, stage, first, layers).ms;
      },
      [](double a, double b) { return a + b; });
  if (!(split.value < below)) return std::nullopt;
  std::vector<StagePlan> stages;
  std::int64_t first = 0;
  for (const std::int64_t layers : split.layers) {
    stages.push_back({layers, least_area(costs, std::ssize(stages), first, layers).choice});
    first += layers;
  }
  return compose_strategy(costs, stages);
}

}  // namespace

std::optional<StrategyPlan> rule_of_thumb(const StrategyTable& table, const Budget& budget) {
  std::vector<StageChoice> choices = table.choices();
  const bool has_one =
      std::ranges::any_of(choices, [](const StageChoice& c) { return c.zero == 1; });
  const std::int64_t zero = has_one ? 1 : choices.front().zero;
  std::erase_if(choices, [&](const StageChoice& choice) { return choice.zero != zero; });
  // The sort keys are pp, cp, tp, ep, shard; the class with the most micro-batches comes first
  // among equal keys.
  std::vector<std::pair<StrategyClass, StrategyLayout>> order;
  for (const StrategyClass& its : table.classes()) {
    if (its.v != 1 || !table.may_use(its, choices.front())) continue;
    for (const StrategyLayout& layout : table.layouts(its)) order.emplace_back(its, layout);
  }
  std::ranges::stable_sort(order, {}, [](const auto& each) {
    return std::array{each.first.pp,  each.second.cp,    each.second.tp,
                      each.second.ep, each.second.shard, -each.first.micro_batches};
  });
  for (const bool full : {false, true}) {
    for (const auto& [its, layout] : order) {
      const StageCosts costs(table, its, layout);
      for (const StageChoice& choice : choices) {
        if ((choice.recompute == StrategyRecompute::full) != full) continue;
        if (auto plan = equal_stages(costs, choice)) return plan;
      }
    }
    if (budget.exhausted()) break;
  }
  return std::nullopt;
}

std::optional<StrategyPlan> best_homogeneous(const StrategyTable& table, const Budget& budget) {
  std::optional<StrategyPlan> best;
  for (const StrategyClass& its : table.classes()) {
    if (best && budget.exhausted()) break;
    for (const StrategyLayout& layout : table.layouts(its)) {
      const StageCosts costs(table, its, layout);
      if (best && costs.area() >= best->step_ms) continue;
      for (const StageChoice& choice : costs.choices()) {
        keep_faster(best, equal_stages(costs, choice));
      }
    }
  }
  return best;
}

std::vector<StrategyPlan> fastest_homogeneous(const StrategyTable& table, std::size_t most,
                                              const Budget& budget) {
  using Kind = std::array<std::int64_t, 7>;
  std::map<Kind, StrategyPlan> fastest;
  for (const StrategyClass& its : table.classes()) {
    if (!fastest.empty() && budget.exhausted()) break;
    for (const StrategyLayout& layout : table.layouts(its)) {
      const StageCosts costs(table, its, layout);
      for (const StageChoice& choice : costs.choices()) {
        std::optional<StrategyPlan> plan = equal_stages(costs, choice);
        if (!plan) continue;
        const Kind kind = {its.pp,
                           its.v,
                           layout.tp,
                           choice.zero,
                           static_cast<std::int64_t>(choice.recompute),
                           layout.ep,
                           layout.shard};
        const auto found = fastest.find(kind);
        if (found == fastest.end()) {
          fastest.emplace(kind, *std::move(plan));
        } else if (plan->step_ms < found->second.step_ms) {
          found->second = *std::move(plan);
        }
      }
    }
  }
  std::vector<StrategyPlan> plans;
  for (auto& [kind, plan] : fastest) plans.push_back(std::move(plan));
  std::ranges::stable_sort(plans, {}, &StrategyPlan::step_ms);
  if (plans.size() > most) plans.resize(most);
  return plans;
}

std::optional<StrategyPlan> best_uneven(const StrategyTable& table,
                                        std::optional<StrategyPlan> best, const Budget& budget) {
  struct Open {
    Ms area = 0;
    StageCosts costs;
  };
  std::vector<Open> open;
  for (const StrategyClass& its : table.classes()) {
    if (its.pp == 1) continue;  // a single stage is covered by the equal stages
    for (const StrategyLayout& layout : table.layouts(its)) {
      const StageCosts costs(table, its, layout);
      open.push_back({costs.area(), costs});
    }
  }
  std::ranges::stable_sort(open, {}, &Open::area);
  const auto known = [&] { return best ? best->step_ms : kInfinity; };
  for (const Open& each : open) {
    if (each.area >= known() || (best && budget.exhausted())) break;
    const StageCosts& costs = each.costs;
    keep_faster(best, least_area_stages(costs, known()));
    const StageOptions options(costs);
    const auto try_stages = [&](std::optional<std::size_t> only) {
      const std::vector<StagePlan> stages = stages_by_thresholds(costs, options, only, known());
      if (!stages.empty()) keep_faster(best, compose_strategy(costs, stages));
    };
    try_stages(std::nullopt);
    for (std::size_t k = 0; k < costs.choices().size(); ++k) try_stages(k);
  }
  return best;
}

std::optional<StrategyPlan> best_of_all(const StrategyTable& table, const Budget& budget) {
  std::optional<StrategyPlan> best = best_homogeneous(table, budget);
  keep_faster(best, galvatron(table, budget));
  return best_uneven(table, std::move(best), budget);
}

}  // namespace stowage
