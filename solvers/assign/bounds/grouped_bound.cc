#include "solvers/assign/bounds/grouped_bound.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "formulations/assign/bounds.h"
#include "formulations/assign/grouped.h"

namespace stowage {
namespace {

// Relative gap at which a relaxation is solved well enough.
constexpr double kClose = 1e-4;
// Largest product of distinct lengths and groups of a model. Larger models take minutes.
constexpr std::size_t kLargest = 20000;
// A bound without a certificate replaces a certified one only if it is higher by this share.
constexpr double kTrifle = 1e-5;
// A MILP's bound is lowered by this share, because backends round.
constexpr double kMilpRounding = 1e-7;

class Relaxation {
 public:
  Relaxation(const AssignInstance& instance, const AssignTable& table,
             const GroupedBoundOptions& options, Budget& budget)
      : instance_(instance), table_(table), options_(options), budget_(budget) {}

  // Returns a lower bound in ms on the strategy's plans, at least `known`.
  Ms bound(int strategy, const AssignPlan* plan, bool apart, Ms known) {
    const std::size_t groups = apart ? static_cast<std::size_t>(table_.replicas(strategy))
                                     : table_.groups(strategy).size();
    if (table_.kinds().size() * groups > kLargest || budget_.exhausted()) return known;
    const AssignGrouped grouped = build_assign_grouped(
        table_, strategy,
        {.upper = plan != nullptr ? plan->objective_ms : milp::kInfinity, .apart = apart});
    MilpParams params{.gap = kClose};
    if (plan != nullptr) params.start = encode(grouped, instance_, table_, *plan);
    Budget limit = budget_.part(budget_.seconds_left(), options_.nodes);
    const MilpResult result = solve_milp(options_.backend, grouped.model, params, limit);
    if (!has_point(result.status) && result.status != MilpStatus::unknown) {
      // If no plan is known, the row constraints may exclude the strategy, but the backend's claim
      // is not a proof. With a plan the claim is wrong, because the plan is a point of the model.
      if (plan != nullptr || result.status != MilpStatus::infeasible) {
        detail = "the relaxation of " +
                 instance_.strategies[static_cast<std::size_t>(strategy)].name +
                 " failed: " + (result.detail.empty() ? "called infeasible" : result.detail);
      }
      return known;
    }
    Ms proven = result.bound * (1 - kMilpRounding);
    if (plan != nullptr) proven = std::min(proven, plan->objective_ms);
    return std::max(known, proven);
  }

  std::string detail;

 private:
  const AssignInstance& instance_;
  const AssignTable& table_;
  const GroupedBoundOptions& options_;
  Budget& budget_;
};

}  // namespace

GroupedBound grouped_bound(const AssignInstance& instance, const AssignTable& table,
                           const std::vector<AssignPlan>& plans, Ms objective, Ms known,
                           const std::vector<Ms>& proven, const GroupedBoundOptions& options,
                           Budget& budget) {
  GroupedBound out;
  if (table.size() == 0) return out;
  Relaxation relaxation(instance, table, options, budget);
  Ms step = objective;
  int late = 0;  // strategies bounded after the budget ended
  for (int strategy = 0; strategy < table.strategies(); ++strategy) {
    if (!table.usable(strategy)) continue;
    const std::string& name = instance.strategies[static_cast<std::size_t>(strategy)].name;
    const auto plan = std::ranges::find(plans, name, &AssignPlan::strategy);
    const AssignPlan* start = plan == plans.end() ? nullptr : &*plan;
    if (budget.exhausted() && ++late > kMaxLateStrategies) return out;
    Ms bound = strategy_bound(table, strategy, budget).value;
    if (!proven.empty()) bound = std::max(bound, proven[static_cast<std::size_t>(strategy)]);
    if (bound < step * (1 - kClose)) bound = relaxation.bound(strategy, start, false, bound);
    if (bound < step * (1 - kClose) && table.replicas(strategy) <= options.most_apart) {
      bound = relaxation.bound(strategy, start, true, bound);
    }
    step = std::min(step, bound);
  }
  out.detail = relaxation.detail;
  // A bound with a certificate is replaced only by a clearly higher bound.
  if (step > known * (1 + kTrifle)) out.bound = NamedBound{"grouped", step};
  return out;
}

}  // namespace stowage
