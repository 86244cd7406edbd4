#include "solvers/assign/exact/strategy_milp.h"

#include <algorithm>
#include <string>
#include <utility>

#include "formulations/assign/bounds.h"
#include "formulations/assign/milp.h"
#include "solvers/assign/bounds/grouped_bound.h"
#include "solvers/milp/tidy.h"

namespace stowage {
namespace {

// Returns the reason why a strategy's MILP ended.
StoppedBy stopped_by(const MilpResult& result) {
  if (result.status == MilpStatus::optimal) return StoppedBy::proof;
  if (result.gap_reached) return StoppedBy::gap;
  // If no limit ended the MILP, the detail names the reason.
  return stopped_by(result.limit, StoppedBy::heuristic_end);
}

}  // namespace

StoppedBy solve_assign_milps(const AssignInstance& instance, const AssignTable& table,
                             const std::vector<AssignPlan>& plans,
                             const AssignExactOptions& options,
                             Incumbent<AssignInstance>& incumbent, Budget& budget) {
  const std::string by = "milp-" + std::string(name(options.backend));
  Ms proven = milp::kInfinity;  // least bound in ms of the strategies so far
  StoppedBy ended = StoppedBy::proof;
  int late = 0;  // strategies bounded after the budget ended
  for (int strategy = 0; strategy < table.strategies(); ++strategy) {
    if (!table.usable(strategy)) continue;
    if (budget.exhausted() && ++late > kMaxLateStrategies) return StoppedBy::heuristic_end;
    const Ms closed = strategy_bound(table, strategy, budget).value;
    const Ms best = incumbent.plan() ? incumbent.plan()->objective_ms : milp::kInfinity;
    if (closed >= best) continue;
    const auto plan = std::ranges::find(
        plans, instance.strategies[static_cast<std::size_t>(strategy)].name, &AssignPlan::strategy);
    // The MILP leaves out rows that only slower plans have; without a plan it has all rows.
    const Ms upper = plan == plans.end() ? milp::kInfinity : plan->objective_ms;
    Ms bound = closed;
    if (budget.exhausted() ||
        assign_milp_variables(table, strategy, upper) > options.most_variables) {
      ended = StoppedBy::heuristic_end;
      proven = std::min(proven, bound);
      continue;
    }
    const AssignMilp milp = build_assign_milp(table, strategy, upper);
    // Costs at the ends of their range can give coefficients that backends do not accept. The MILP
    // is then skipped without a failure.
    if (const std::string bad = find_bad_number(milp.model); !bad.empty()) {
      incumbent.remark(by + " is not asked: " + bad);
      ended = StoppedBy::heuristic_end;
      proven = std::min(proven, bound);
      continue;
    }
    MilpParams params{.gap = options.gap, .seed = options.seed};
    if (plan != plans.end()) params.start = encode(milp, instance, table, *plan);
    const MilpResult result = solve_milp(options.backend, milp.model, params, budget);
    if (has_point(result.status)) {
      incumbent.offer(
          compose_assign(instance, strategy, decode(milp, table, result.values), budget), 'M', by);
    }
    if (result.status == MilpStatus::error || result.status == MilpStatus::unbounded ||
        (result.status == MilpStatus::infeasible && plan != plans.end())) {
      incumbent.remark(by + " failed on " +
                       instance.strategies[static_cast<std::size_t>(strategy)].name);
      ended = StoppedBy::error;
    } else if (result.status == MilpStatus::infeasible) {
      // The backend claims that the row constraints leave this strategy without a plan. The claim
      // is not a proof.
      ended = StoppedBy::heuristic_end;
    } else {
      bound = std::max(bound, result.bound);
      if (stopped_by(result) != StoppedBy::proof) ended = stopped_by(result);
    }
    if (!result.detail.empty()) incumbent.remark(by + ": " + result.detail);
    proven = std::min(proven, bound);
  }
  if (incumbent.plan()) proven = std::min(proven, incumbent.plan()->objective_ms);
  if (proven < milp::kInfinity && proven > incumbent.bound()) incumbent.raise_bound({by, proven});
  return ended;
}

}  // namespace stowage
