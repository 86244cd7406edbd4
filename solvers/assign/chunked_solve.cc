#include "solvers/assign/chunked_solve.h"

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "formulations/assign/chunk_bounds.h"
#include "heuristics/assign/chunk_flow.h"
#include "heuristics/assign/chunked.h"
#include "heuristics/assign/registry.h"
#include "solvers/incumbent.h"

namespace stowage {
namespace {

constexpr const char* kAuto = "auto";
// Writing down and verifying a plan takes at most so many times what the bounds took.
constexpr double kPlanPerBounds = 3;

}  // namespace

std::vector<Method> chunked_methods(const AssignInstance& instance) {
  std::vector<Method> all{{kAuto, MethodKind::ours, "every method below, the best plan", ""}};
  for (const AssignHeuristic& heuristic : heuristics(instance)) {
    all.push_back({heuristic.name,
                   heuristic.source.empty() ? MethodKind::ours : MethodKind::baseline,
                   heuristic.summary, heuristic.source});
  }
  return all;
}

Outcome solve_chunked(const AssignInstance& instance, const SolveOptions& options, Budget& budget,
                      const Progress& progress) {
  AssignIncumbent incumbent(instance, budget, progress);
  const auto finished = [&](Outcome outcome) {
    outcome.method = options.method;
    return outcome;
  };
  if (std::vector<std::int64_t> ids = unplaceable_sequences(instance); !ids.empty()) {
    Outcome outcome = incumbent.report();
    outcome.status = Status::infeasible;
    outcome.stopped_by = StoppedBy::proof;
    outcome.detail = "a sequence is longer than every replica has memory for";
    outcome.bound_by = "unplaceable";
    outcome.unplaceable = std::move(ids);
    return finished(std::move(outcome));
  }
  for (const NamedBound& bound : assign_chunk_bounds(instance, budget))
    incumbent.raise_bound(bound);
  if (options.start) incumbent.offer_start(std::get<AssignPlan>(*options.start));
  const double reserve_s = kPlanPerBounds * budget.seconds();
  bool gap_reached = false;
  bool time_ended = false;
  const auto attempt = [&](const char* name, const auto& make) {
    if (options.method != kAuto && options.method != name) return;
    const Budget part = budget.part(budget.seconds_left() - reserve_s, budget.nodes_left());
    const bool needed = !incumbent.plan();
    if (!needed && (gap_reached || incumbent.proven())) return;
    if (std::optional<AssignPlan> plan = make(needed, part)) {
      incumbent.offer(std::move(*plan), 'H', name);
    } else if (part.exhausted()) {
      time_ended = time_ended || part.stop_reason() == StopReason::time_limit;
    } else {
      incumbent.remark(std::string(name) + " cannot plan this step");
    }
    gap_reached = incumbent.plan() && incumbent.within(options.gap);
  };
  StoppedBy ended = StoppedBy::heuristic_end;
  try {
    attempt("chunk-flow", [&](bool needed, const Budget& part) -> std::optional<AssignPlan> {
      if (!needed && part.exhausted()) return std::nullopt;
      return assign_chunk_flow(instance, part);
    });
    attempt("fast", [&](bool needed, const Budget& part) {
      return assign_chunked(instance, needed, part);
    });
    // A limit that ended the method before its first plan still leaves time for the quickest.
    if (!incumbent.plan() && budget.seconds_left() <= reserve_s) time_ended = true;
    if (!incumbent.plan() && (time_ended || budget.exhausted())) {
      if (auto plan = assign_chunked(instance, true, budget)) {
        incumbent.offer(std::move(*plan), 'H', "fast");
      }
    }
  } catch (const std::exception& failure) {  // never takes a good plan away
    incumbent.remark(std::string("failed: ") + failure.what());
    ended = StoppedBy::error;
  }
  if (time_ended && ended != StoppedBy::error) ended = StoppedBy::time_limit;
  return finished(std::move(incumbent).conclude(gap_reached ? StoppedBy::gap : ended));
}

}  // namespace stowage
