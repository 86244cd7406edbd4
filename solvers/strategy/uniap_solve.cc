#include "solvers/strategy/uniap_solve.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "formulations/strategy/uniap.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan_builder.h"

namespace stowage {

UniapResult solve_uniap(const StrategyTable& table, const UniapSolve& options, Budget& budget) {
  struct OpenLayout {
    Ms area = 0;
    StageCosts costs;
  };
  std::vector<OpenLayout> open;
  for (const StrategyClass& its : table.classes()) {
    if (its.v != 1 || its.pp > table.layers()) continue;
    for (const StrategyLayout& layout : table.layouts(its)) {
      const StageCosts costs(table, its, layout);
      open.push_back({costs.area(), costs});
    }
  }
  std::ranges::stable_sort(open, {}, &OpenLayout::area);
  UniapResult result;
  for (const OpenLayout& each : open) {
    const Ms known = result.plan ? result.plan->step_ms : kInfinity;
    if (each.area >= known || budget.exhausted()) break;
    if (uniap_products(each.costs) > kMaxUniapProducts) {
      ++result.unsolved;
      result.detail = "too many layers, stages and choices for the MILP";
      continue;
    }
    const UniapMip mip = build_uniap(each.costs);
    Budget part = budget.part(options.milp_seconds, budget.nodes_left());
    const MilpResult solved =
        solve_milp(options.backend, mip.model, {.seed = options.seed, .cutoff = known}, part);
    const bool none_below = solved.limit == StopReason::none && solved.bound >= known;
    if (solved.status != MilpStatus::optimal && solved.status != MilpStatus::infeasible &&
        !none_below) {
      ++result.unsolved;
      result.detail = solved.detail;
    }
    if (!has_point(solved.status)) continue;
    StrategyPlan plan = compose_strategy(each.costs, decode(mip, solved.values));
    if (!fits(table.instance(), plan)) continue;
    if (plan.step_ms < known) result.plan = std::move(plan);
  }
  return result;
}

}  // namespace stowage
