// Simulated annealing of a whole step: sequences move and change places between groups, groups
// change places between micro-batches, split, merge and change degree.
#pragma once

#include <cstdint>

#include "heuristics/scatter/draft.h"
#include "instances/budget.h"

namespace stowage {

struct AnnealEffort {
  std::int64_t steps = 100000;  // moves tried
  double hot = 3e-3;            // first temperature, as a fraction of the mean makespan
  double cold = 1e-5;           // last temperature
  // In a pipeline: the part of the steps after which the longest makespan costs what it does.
  double price_from = 0;
};

// `hot` of a step whose groups may still change much.
inline constexpr double kHotAnnealing = 4.2e-3;

// Never makes the step worse. Deterministic in `seed` and the effort unless the budget ends first.
void anneal(const ScatterTable& table, StepDraft& step, const AnnealEffort& effort,
            std::uint64_t seed, const Budget& budget);

}  // namespace stowage
