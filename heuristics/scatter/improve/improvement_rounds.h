// Large-neighbourhood search over plans: rounds that plan the whole step anew, reheat it, or replan
// a few micro-batches.
//
//   for (std::uint64_t round = 0; !budget.exhausted(); ++round) {
//     improve(table, step, round, seed, budget);
//   }
#pragma once

#include <cstdint>

#include "heuristics/scatter/params.h"
#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"

namespace stowage {

// Runs one round. Later rounds take longer. Never makes the step worse. Deterministic in `step`,
// `round` and `seed` unless the budget ends first.
void improve(const ScatterTable& table, WorkingStep& step, std::uint64_t round, std::uint64_t seed,
             const Budget& budget, const LnsParams& params = {}, const MultistartParams& race = {});

}  // namespace stowage
