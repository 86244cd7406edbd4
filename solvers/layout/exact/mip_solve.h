// Solves the layout MIP by a backend, for the transient buffers of a layer or for a small graph.
// The backward pass of a Llama layer, 22 buffers and 45 conflicting pairs, takes CBC 0.03 s and
// GLPK 0.01 s; the published model is still open after half a second. The MIP of about 200 pairs or
// more finds no optimum in seconds, and search replaces it.
//
//   Budget budget({.time_limit_s = 5});
//   const LayoutMipSolve options{.backend = MilpBackend::cbc};
//   const LayoutMipResult best = solve_layout_mip(table, options, start, budget);
//   if (best.status == MilpStatus::optimal) use(best.offsets);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/planning_table.h"
#include "solvers/layout/exact/search.h"
#include "solvers/layout/params.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct LayoutMipSolve {
  MilpBackend backend = MilpBackend::cbc;
  bool strengthened = true;
  double gap = 0;
  std::uint64_t seed = 0;
  std::int64_t pairs = LayoutParams{}.mip_pairs;  // limit on the pairs; larger models are not built
};

struct LayoutMipResult {
  // optimal: peak == bound. infeasible: no layout within start.capacity. error: see detail.
  MilpStatus status = MilpStatus::unknown;
  std::vector<Bytes> offsets;  // the best layout known, including that of `start`; may be empty
  Bytes peak = 0;              // peak of `offsets` in bytes
  Bytes bound = 0;  // proven lower bound in bytes, exact despite the backend's tolerances
  std::int64_t nodes = 0;
  std::string detail;
};

// Returns the layout of least peak that the backend finds from the start
// (solvers/layout/exact/search.h), and a bound. The backend's point is decoded by its order, so the
// offsets are exact. The backend's bound is lowered by the tolerances of all rows together.
// Requires a built backend, a stackable table, no clashing pins and at most options.pairs pairs;
// otherwise the status is `unknown`, with the reason in `detail`.
LayoutMipResult solve_layout_mip(const LayoutTable& table, const LayoutMipSolve& options,
                                 const LayoutStart& start, Budget& budget);

}  // namespace stowage
