// What a perfect solver could make of FlexSP's chunks (arXiv 2412.01523, section 4.3).
//
//   const FlexspChunksResult best = plan_flexsp_chunks(instance, MilpBackend::cbc, budget);
//
// A published MILP that stops at a limit leaves open whose fault a slow step is: the solver's or
// the chunks'. Here every chunk is grouped by our own search, and the class LP says how fast no
// grouping of it can be: with exact lengths, so without the loss of FlexSP's buckets either.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heuristics/scatter/chunking.h"
#include "instances/budget.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "solvers/milp/solver.h"

namespace stowage {

// The step as FlexSP sees it: degree 1 is left out where another degree exists, as in the authors'
// code.
ScatterInstance flexsp_view(const ScatterInstance& instance);

// Token-balanced chunks for the five smallest micro-batch counts whose chunks fit the cluster, by
// ascending count. `table` is of flexsp_view.
std::vector<Chunks> flexsp_chunks(const ScatterTable& table);

struct FlexspChunksResult {
  std::optional<ScatterPlan>
      plan;  // the best count; nothing if for each some chunk has no grouping
  // No grouping of the chunks of any of the counts is faster, ms; 0 if the budget left no time to
  // prove anything, or the best one was mended to keep the rules.
  Ms bound = 0;
  std::string failure;  // what a backend said that cannot be; empty if nothing
};

// `backend` solves the class LPs.
FlexspChunksResult plan_flexsp_chunks(const ScatterInstance& instance, MilpBackend backend,
                                      Budget& budget);

}  // namespace stowage
