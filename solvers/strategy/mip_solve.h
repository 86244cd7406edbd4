// The stages of one class and layout by a MILP backend. It cross-checks the search
// (stage_search.h), which takes milliseconds where the backend takes seconds.
//
//   const StrategyMipResult found = solve_strategy_mip(costs, {.below = best_known_ms}, budget);
//   // nothing that fits takes less than found.bound
//
// Thread safety: several threads may solve at once; they may share a budget.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "instances/numbers.h"
#include "instances/strategy/compose.h"
#include "instances/strategy/table.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct StrategyMipSolve {
  MilpBackend backend = MilpBackend::cbc;
  Ms below = kInfinity;  // only a step below this time counts
  std::uint64_t seed = 0;
  std::int64_t most_binaries = 200'000;  // a larger model is not built
};

struct StrategyMipResult {
  std::vector<StagePlan> stages;  // empty if no step below was found
  Ms bound = 0;                   // of the backend, lowered by twice its tolerance
  bool complete = false;          // the backend claims that no better stages are left
  std::string detail;
};

// Requires a built backend. If all layers are equal, solves the folded form.
StrategyMipResult solve_strategy_mip(const StageCosts& costs, const StrategyMipSolve& options,
                                     Budget& budget);

}  // namespace stowage
