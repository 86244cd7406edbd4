#include "solvers/assign_chunked_solve.h"

#include <exception>
#include <utility>

#include "formulations/assign_chunk_bounds.h"
#include "heuristics/assign_chunked.h"
#include "solvers/incumbent.h"

namespace stowage {
namespace {

constexpr const char* kAuto = "auto";

}  // namespace

std::vector<Method> chunked_methods() {
  std::vector<Method> all{{kAuto, MethodKind::ours, "every method below, the best plan", ""}};
  for (const AssignHeuristic& heuristic : chunk_heuristics()) {
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
  for (const NamedBound& bound : assign_chunk_bounds(instance)) incumbent.raise_bound(bound);
  if (options.start) incumbent.offer_start(std::get<AssignPlan>(*options.start));
  StoppedBy ended = StoppedBy::heuristic_end;
  bool gap_reached = false;
  for (const AssignHeuristic& heuristic : chunk_heuristics()) {
    if (options.method != kAuto && options.method != heuristic.name) continue;
    if (incumbent.plan() && (gap_reached || incumbent.proven() || budget.exhausted())) break;
    try {
      if (auto plan = heuristic.run(instance, options.seed, budget)) {
        incumbent.offer(std::move(*plan), 'H', heuristic.name);
      } else {
        incumbent.remark(heuristic.name + " cannot plan this step");
      }
    } catch (const std::exception& failure) {  // never takes a good plan away
      incumbent.remark(std::string("failed: ") + failure.what());
      ended = StoppedBy::error;
    }
    gap_reached = incumbent.plan() && incumbent.within(options.gap);
  }
  return finished(incumbent.conclude(gap_reached ? StoppedBy::gap : ended));
}

}  // namespace stowage
