#include "solvers/scatter/explain/method_spread.h"

#include <algorithm>

#include "solvers/solve.h"

namespace stowage {

MethodSpread separation_of(const ScatterInstance& instance, Budget& budget) {
  constexpr double kSame = 1e-9;  // relative
  MethodSpread separation;
  const std::vector<Method> known = methods(instance);
  for (const char* const name : {"fast", "batch-ada", "megatron-dynamic", "dp-balanced", "verl"}) {
    if (std::ranges::find(known, name, &Method::name) == known.end()) continue;
    const Outcome outcome = solve(instance, {.method = name}, budget);
    if (outcome.plan && outcome.objective) {
      separation.plans.push_back({name, *outcome.objective});
    }
  }
  std::ranges::stable_sort(separation.plans, {}, &MethodTime::ms);
  if (separation.plans.empty()) return separation;
  const Ms best = separation.plans.front().ms;
  const auto next = std::ranges::find_if(
      separation.plans, [&](const MethodTime& plan) { return plan.ms > best * (1 + kSame); });
  if (next != separation.plans.end()) separation.best_to_next = next->ms / best - 1;
  separation.best_to_last = separation.plans.back().ms / best - 1;
  return separation;
}

}  // namespace stowage
