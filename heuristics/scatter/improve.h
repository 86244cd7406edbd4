// Better plans for as long as one likes: rounds of planning anew, reheating, and replanning a few
// micro-batches.
//
//   for (std::uint64_t round = 0; !budget.exhausted(); ++round) {
//     improve(table, step, round, seed, budget);
//   }
#pragma once

#include <cstdint>

#include "heuristics/scatter/draft.h"
#include "heuristics/scatter/params.h"
#include "instances/budget.h"

namespace stowage {

// One round; later rounds take longer. Never makes the step worse. Deterministic in `step`, `round`
// and `seed` unless the budget ends first.
void improve(const ScatterTable& table, StepDraft& step, std::uint64_t round, std::uint64_t seed,
             const Budget& budget, const LnsParams& params = {}, const MultistartParams& race = {});

}  // namespace stowage
