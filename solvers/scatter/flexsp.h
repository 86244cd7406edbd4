// The published planner, as a mark to compare with: FlexSP (arXiv 2412.01523, sections 4.2 to 4.4).
//
// Token-balanced chunks for the five smallest micro-batch counts whose chunks fit the cluster; per
// chunk 16 length buckets by dynamic programming and the published MILP; the best count wins.
// Degree 1 is left out where another degree exists, as in the authors' code. Every MILP starts from
// the chunk's best homogeneous grouping: without a start CBC often ends 10 s without any plan, and
// a mark that fails proves nothing. The published system solves with SCIP in 5 to 15 s.
#pragma once

#include <optional>
#include <string>

#include "instances/budget.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct FlexspOptions {
  MilpBackend backend = MilpBackend::cbc;
  double milp_seconds = 10;  // wall-clock limit of each MILP: results depend on the machine
};

struct FlexspResult {
  std::optional<ScatterPlan> plan;  // nothing if for every count some chunk found no plan in time
  int milps = 0;                    // solved
  int milps_stopped = 0;            // of these, ended by a limit before their proof
  std::string detail;               // what the last failing MILP said; empty if none failed
};

// Counts its nodes on `budget`, and stops with what it has when that ends.
FlexspResult flexsp(const ScatterInstance& instance, const FlexspOptions& options, Budget& budget);

}  // namespace stowage
