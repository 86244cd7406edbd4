// The stages of one class and layout by a MILP backend: a cross-check of the search
// (stage_search.h), which takes milliseconds where this takes seconds.
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
  Ms below = kInfinity;  // of no interest: steps that are not
  std::uint64_t seed = 0;
};

// Models of more binaries are not built.
inline constexpr std::int64_t kMostStrategyBinaries = 200'000;

struct StrategyMipResult {
  std::vector<StagePlan> stages;  // empty if nothing below was found
  Ms bound = 0;                   // claimed, less what a backend's tolerances may hide
  bool complete = false;          // the backend says that nothing better is left
  std::string detail;
};

// Requires a built backend. The folded form is solved where layers are equal.
StrategyMipResult solve_strategy_mip(const StageCosts& costs, const StrategyMipSolve& options,
                                     Budget& budget);

}  // namespace stowage
