#include "solvers/memory/solve_with_layout.h"

#include <utility>
#include <variant>

#include "instances/order/plan.h"

namespace stowage {
namespace {

// Makes the order of the arrangement the plan of the outcome.
void take_arranged(const Arrangement& found, const Budget& budget, Outcome& outcome) {
  const double before = *outcome.objective;
  outcome.objective = objective_of(found.order);
  outcome.plan = found.order;
  outcome.seconds += budget.seconds();
  outcome.nodes += budget.nodes();
  if (*outcome.objective >= before) return;
  outcome.found_by = "level";
  outcome.improvements.push_back({.seconds = outcome.seconds,
                                  .bound = outcome.bound,
                                  .objective = outcome.objective,
                                  .nodes = outcome.nodes,
                                  .source = 'L',
                                  .by = outcome.found_by});
  if (*outcome.objective <= outcome.bound) {
    outcome.status = Status::optimal;
    outcome.stopped_by = StoppedBy::proof;
  }
}

}  // namespace

ArrangedOutcome solve_with_layout(const OrderInstance& graph, const SolveOptions& options,
                                  const Budget::Limits& limits, const Progress& progress,
                                  const ArrangeProgress& layout_progress) {
  const Budget whole(limits);
  Budget::Limits half = limits;
  half.time_limit_s /= 2;
  half.node_limit /= 2;
  Budget budget(half);
  ArrangedOutcome found{.outcome = solve(graph, options, budget, progress)};
  if (!found.outcome.plan) return found;
  half.time_limit_s = whole.seconds_left();
  Budget rest(half);
  found.arrangement = arrange(graph, std::get<OrderPlan>(*found.outcome.plan),
                              {.seed = options.seed}, rest, layout_progress);
  take_arranged(*found.arrangement, rest, found.outcome);
  return found;
}

}  // namespace stowage
