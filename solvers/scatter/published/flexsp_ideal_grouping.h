// The best plan of FlexSP's chunks with a stronger grouping (arXiv 2412.01523, section 4.3).
//
//   const FlexspIdealGrouping best = plan_flexsp_chunks(instance, MilpBackend::cbc, budget);
//
// A published MILP that stops at a limit does not show if the solver or the chunks cause a slow
// step. Here our own search groups every chunk, and the class LP bounds how fast any grouping of
// the chunk can be. Lengths are exact, so the loss of FlexSP's buckets is avoided too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heuristics/scatter/construct/chunking.h"
#include "instances/budget.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "solvers/milp/solver.h"

namespace stowage {

// Returns the step as FlexSP plans it: without degree 1 if another degree exists, as in the
// authors' code, and without offload if all sequences fit without it.
ScatterInstance flexsp_view(const ScatterInstance& instance);

// Returns the token-balanced chunks for the five smallest micro-batch counts whose chunks fit the
// cluster, by ascending count. `table` must be made of flexsp_view().
std::vector<Chunks> flexsp_chunks(const ScatterTable& table);

struct FlexspIdealGrouping {
  std::optional<ScatterPlan>
      plan;  // the best count; nothing if for each some chunk has no grouping
  // Bound in ms on all groupings of the chunks of any of the counts. It is 0 if the budget left no
  // time for a proof, or if the best plan was repaired to keep the rules.
  Ms bound = 0;
  std::string failure;  // contradictory message of a backend, or empty
};

// `backend` solves the class LPs.
FlexspIdealGrouping plan_flexsp_chunks(const ScatterInstance& instance, MilpBackend backend,
                                       Budget& budget);

}  // namespace stowage
