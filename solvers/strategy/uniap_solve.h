// UniAP as a baseline (arXiv 2307.16375): the MILP of formulations/strategy/uniap.h for each class
// without chunks and each layout, as the original solves one for each number of stages and
// micro-batches.
//
//   const UniapResult found = solve_uniap(table, {.backend = MilpBackend::cbc}, budget);
//   if (found.plan) use(*found.plan);
//
// Thread safety: several threads may solve at once; they may share a budget.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "instances/budget.h"
#include "instances/strategy/plan.h"
#include "instances/strategy/table.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct UniapSolve {
  MilpBackend backend = MilpBackend::cbc;
  double milp_seconds = 10;  // of each MILP
  std::uint64_t seed = 0;
};

// Models of more products are not built.
inline constexpr std::int64_t kMostUniapProducts = 100'000;

struct UniapResult {
  std::optional<StrategyPlan> plan;  // fits; without hash and bound
  std::int64_t unsolved = 0;         // MILPs that did not end, or were not built
  std::string detail;                // why one of them did not
};

// Those with little work first; what has more work than the best step takes is left out. Layers
// that do not fit together, in spite of what they need one by one, give no plan. Requires a built
// backend.
UniapResult solve_uniap(const StrategyTable& table, const UniapSolve& options, Budget& budget);

}  // namespace stowage
