#include "cli/commands/compare/method_runs.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "cli/families/families.h"
#include "cli/terminal/status_line.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

bool is_baseline(const Method& method) { return method.kind == MethodKind::baseline; }

// Prints the possible total time if it is more than a few times --time-limit.
void tell_limits(Console& console, const std::vector<Method>& chosen, double own, double baseline) {
  constexpr double kFew = 3;  // in multiples of the limit of a method
  const auto baselines = std::ranges::count_if(chosen, is_baseline);
  const auto ours = std::ssize(chosen) - baselines;
  if (baselines == 0 || baseline <= kFew * own) return;
  std::string line = "limits    " + counted(baselines, "baseline") + " of at most " +
                     seconds_text(baseline) + " (--baseline-limit)";
  if (ours > 0 && own < kInfinity) {
    line += ", " + counted(ours, "other method") + " of at most " + seconds_text(own);
  }
  const double all =
      baseline * static_cast<double>(baselines) + (ours > 0 ? own * static_cast<double>(ours) : 0);
  if (all < kInfinity) line += ": " + seconds_text(all) + " in all";
  console.info(line);
}

}  // namespace

std::vector<MethodRow> run_methods(Console& console, const Instance& instance,
                                   const std::vector<std::string>& names, SolveOptions options,
                                   const Budget::Limits& limits, double baseline_limit_s) {
  std::vector<Method> chosen;
  for (const Method& method : methods(instance)) {
    const bool wanted =
        names.empty() || std::find(names.begin(), names.end(), method.name) != names.end();
    if (wanted) chosen.push_back(method);
  }
  // Baselines may take minutes, so they run last: a user who interrupts them has the other
  // results. The table shows them first.
  std::stable_partition(chosen.begin(), chosen.end(), std::not_fn(is_baseline));
  tell_limits(console, chosen, limits.time_limit_s, baseline_limit_s);
  std::vector<MethodRow> rows;
  StatusLine status(console);
  for (const Method& method : chosen) {
    if (*limits.interrupt) break;
    Budget::Limits own = limits;
    // A published planner that solves many MILPs gets a longer limit than the methods of stowage.
    // With the same limit it would be cut short and look worse than it is.
    std::string running = "running   " + method.name + " (" + std::to_string(rows.size() + 1) +
                          " of " + std::to_string(chosen.size()) + ')';
    if (is_baseline(method)) {
      own.time_limit_s = baseline_limit_s;
      running += ", at most " + seconds_text(baseline_limit_s);
    }
    console.debug(running);
    status.tell(running);
    options.method = method.name;
    Budget budget(own);
    const auto tell = [&](const Improvement& step) {
      status.tell(running + "  best " + amount_text(step.objective, objective_unit(instance)));
    };
    rows.push_back({method, solve(instance, options, budget, tell)});
  }
  std::stable_partition(rows.begin(), rows.end(),
                        [&](const MethodRow& row) { return is_baseline(row.method); });
  mark_best(rows);
  return rows;
}

}  // namespace stowage
