// Solves the stages of one class and layout by a MILP backend. The MILP cross-checks the search
// (stage_search.h), which takes milliseconds where the backend takes seconds.
//
//   const StrategyMipResult found = solve_strategy_mip(costs, {.below = best_known_ms}, budget);
//   // no fitting stages take less than found.bound
//
// Thread safety: several threads may solve at once; they may share a budget.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan_builder.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct StrategyMipSolve {
  MilpBackend backend = MilpBackend::cbc;
  Ms below = kInfinity;  // steps of this time or more are not wanted
  std::uint64_t seed = 0;
  std::int64_t most_binaries = 200'000;  // larger models are not built
};

struct StrategyMipResult {
  std::vector<StagePlan> stages;  // empty if no step below `below` was found
  Ms bound = 0;                   // the backend's bound in ms, lowered by twice its tolerance
  bool complete = false;          // the backend claims that no better stages exist
  std::string detail;
};

// Returns the best stages found and a bound. Requires a built backend. If all layers are equal,
// solves the folded form.
StrategyMipResult solve_strategy_mip(const StageCosts& costs, const StrategyMipSolve& options,
                                     Budget& budget);

}  // namespace stowage
