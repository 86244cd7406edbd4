// The published planner FlexSP (arXiv 2412.01523, sections 4.2 to 4.4) as a baseline.
//
// It takes token-balanced chunks for the five smallest micro-batch counts whose chunks fit the
// cluster. Each chunk gets 16 length buckets by dynamic programming and the published MILP. The
// best count wins. Degree 1 is left out if another degree exists, as in the authors' code. Every
// MILP starts from the chunk's best homogeneous grouping: without a start, CBC often ends after 10
// s without a plan, and a failing baseline proves nothing. The published system solves with SCIP in
// 5 to 15 s.
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
  std::optional<ScatterPlan> plan;  // nullopt if every count has a chunk without a plan in time
  int milps = 0;                    // number of MILPs solved
  int milps_stopped = 0;            // MILPs that a limit ended before their proof
  std::string detail;               // message of the last MILP that failed, or empty
};

// Counts nodes on `budget`. If the budget ends, returns the best plan so far.
FlexspResult flexsp(const ScatterInstance& instance, const FlexspOptions& options, Budget& budget);

}  // namespace stowage
