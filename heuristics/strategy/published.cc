#include "heuristics/strategy/published.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "heuristics/strategy/threshold_split.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan_builder.h"

namespace stowage {
namespace {

// Calls make(costs) for every class without chunks and every layout, by ascending area, and returns
// the fastest plan that fits.
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

// Returns the stages of Galvatron's even division, each with its cheapest choice that fits; an
// empty list if no choice fits some stage.
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
    for (const StageChoice& each : costs.choices()) {
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

}  // namespace

std::optional<StrategyPlan> galvatron(const StrategyTable& table, const Budget& budget) {
  return best_of_layouts(table, budget, divided_evenly);
}

std::optional<StrategyPlan> alpa(const StrategyTable& table, const Budget& budget) {
  return best_of_layouts(table, budget, [](const StageCosts& costs) {
    return stages_by_thresholds(costs, StageOptions(costs), std::nullopt, kInfinity);
  });
}

}  // namespace stowage
