#include "solvers/plan_stream.h"

#include <optional>
#include <utility>

#include "solvers/work_in_order.h"

namespace stowage {
namespace {

PlannedStep planned(StreamStep step, const SolveOptions& options, const Budget::Limits& limits) {
  if (step.outcome) return {step.index, std::move(step.instance), *std::move(step.outcome)};
  Budget budget(limits);
  Outcome outcome = solve(step.instance, options, budget);
  return {step.index, std::move(step.instance), std::move(outcome)};
}

}  // namespace

void plan_stream(FunctionRef<std::optional<StreamStep>()> next, const SolveOptions& options,
                 const Budget::Limits& limits, int threads, FunctionRef<bool(PlannedStep&&)> take) {
  const auto plan = [&](StreamStep&& step) { return planned(std::move(step), options, limits); };
  work_in_order<StreamStep, PlannedStep>(next, plan, threads, take);
}

}  // namespace stowage
