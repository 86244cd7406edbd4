// UniAP as a baseline (arXiv 2307.16375): the MILP of formulations/strategy/uniap.h is solved for
// each class without chunks and each layout. The original solves one MILP for each number of stages
// and micro-batches.
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
#include "instances/strategy/planning_table.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct UniapSolve {
  MilpBackend backend = MilpBackend::cbc;
  double milp_seconds = 10;  // time limit of each MILP
  std::uint64_t seed = 0;
};

// Largest number of products in a model; larger models are not built.
inline constexpr std::int64_t kMaxUniapProducts = 100'000;

struct UniapResult {
  std::optional<StrategyPlan> plan;  // a plan that fits, without hash and bound
  std::int64_t unsolved = 0;         // MILPs that were not solved to the end, or not built
  std::string detail;                // reason why the last of them was not solved
};

// Returns the best plan over all layouts, by ascending area. Layouts whose area is not below the
// best step are skipped. If a MILP's solution exceeds the memory of a stage, it gives no plan.
// Requires a built backend.
UniapResult solve_uniap(const StrategyTable& table, const UniapSolve& options, Budget& budget);

}  // namespace stowage
