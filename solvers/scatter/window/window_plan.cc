#include "solvers/scatter/window/window_plan.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "instances/scatter/plan.h"
#include "instances/scatter/verify/window_check.h"

namespace stowage {
namespace {

std::vector<Outcome> solved(const std::vector<ScatterInstance>& steps, const SolveOptions& options,
                            const Budget::Limits& limits) {
  std::vector<Outcome> outcomes;
  for (const ScatterInstance& step : steps) {
    Budget budget(limits);
    outcomes.push_back(solve(step, options, budget));
  }
  return outcomes;
}

bool all_have_plans(const std::vector<Outcome>& outcomes) {
  return std::ranges::all_of(outcomes, [](const Outcome& each) { return each.plan.has_value(); });
}

double sum_of_times(const std::vector<Outcome>& outcomes) {
  double sum = 0;
  for (const Outcome& each : outcomes) sum += step_time_ms(each);
  return sum;
}

// Returns true if all steps state the targets of their sequences, or none does.
bool agree_on_targets(const std::vector<ScatterInstance>& steps) {
  const auto states = [](const ScatterInstance& step) { return !step.loss_tokens.empty(); };
  const auto stating = std::ranges::count_if(steps, states);
  return stating == 0 || stating == std::ssize(steps);
}

// Marks the window as interrupted if it is: its deal depends on the moment.
WindowPlan marked(WindowPlan window, const Budget::Limits& limits) {
  const bool interrupted = limits.interrupt != nullptr && *limits.interrupt;
  if (interrupted && !window.outcomes.empty()) {
    window.outcomes.front().stopped_by = StoppedBy::interrupted;
  }
  return window;
}

}  // namespace

double step_time_ms(const Outcome& outcome) {
  const auto& plan = std::get<ScatterPlan>(*outcome.plan);
  return plan.simulated_1f1b_ms > 0 ? plan.simulated_1f1b_ms : plan.objective_ms;
}

WindowPlan plan_window(std::vector<ScatterInstance> steps, const WindowRule& rule,
                       const SolveOptions& options, const Budget::Limits& limits) {
  WindowPlan drawn{.deal = as_drawn(steps)};
  drawn.outcomes = solved(steps, options, limits);
  const bool may_deal =
      steps.size() > 1 && agree_on_targets(steps) && all_have_plans(drawn.outcomes);
  drawn.steps = std::move(steps);
  if (all_have_plans(drawn.outcomes)) {
    drawn.drawn_ms = drawn.planned_ms = sum_of_times(drawn.outcomes);
  }
  if (!may_deal) return marked(std::move(drawn), limits);
  const Budget budget({.interrupt = limits.interrupt});
  const DealEffort effort{.rule = rule};
  WindowPlan best = drawn;
  for (const WindowDeal& deal : best_deals(drawn.steps, effort, options.seed, budget)) {
    WindowPlan dealt{.deal = deal, .drawn_ms = drawn.drawn_ms};
    for (std::size_t s = 0; s < drawn.steps.size(); ++s) {
      dealt.steps.push_back(dealt_step(drawn.steps, deal, s));
    }
    dealt.outcomes = solved(dealt.steps, options, limits);
    if (!all_have_plans(dealt.outcomes)) continue;
    dealt.planned_ms = sum_of_times(dealt.outcomes);
    if (dealt.planned_ms < best.planned_ms) best = std::move(dealt);
  }
  const std::vector<Violation> broken = check_window(drawn.steps, best.steps, best.deal, rule);
  if (!broken.empty()) throw std::logic_error("a window is wrong: " + to_string(broken.front()));
  return marked(std::move(best), limits);
}

}  // namespace stowage
