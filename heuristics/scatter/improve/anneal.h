// Simulated annealing of a whole step: sequences move and change places between groups, groups
// change places between micro-batches, split, merge and change degree.
#pragma once

#include <cstdint>

#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"

namespace stowage {

struct AnnealEffort {
  std::int64_t steps = 100000;  // moves tried
  double hot = 3e-3;            // first temperature, as a fraction of the mean makespan
  double cold = 1e-5;           // last temperature
  // Pipelines only: the share of the steps after which the energy includes the longest makespan.
  double price_from = 0;
};

// The first temperature of a step whose groups may still change much, as a share of the mean
// makespan.
inline constexpr double kHotAnnealing = 4.2e-3;

// Improves the step in place and never makes it worse. Deterministic in `seed` and the effort
// unless the budget ends first.
void anneal(const ScatterTable& table, WorkingStep& step, const AnnealEffort& effort,
            std::uint64_t seed, const Budget& budget);

}  // namespace stowage
