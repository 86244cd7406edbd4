// The layout MIP solved by a backend: for the transient buffers of a layer, or a small graph. The
// backward pass of a Llama layer, 22 buffers and 45 conflicting pairs, takes 0.03 s of CBC and 0.01
// s of GLPK; the published model of it is open after half a second. From some 200 pairs on the MIP
// finds no optimum in seconds, and search takes over.
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
#include "instances/layout/table.h"
#include "solvers/layout/params.h"
#include "solvers/layout/search.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct LayoutMipSolve {
  MilpBackend backend = MilpBackend::cbc;
  bool strengthened = true;
  double gap = 0;
  std::uint64_t seed = 0;
  std::int64_t pairs = LayoutParams{}.mip_pairs;  // models of more pairs are not built
};

struct LayoutMipResult {
  // optimal: peak == bound. infeasible: no layout within start.capacity. error: see detail.
  MilpStatus status = MilpStatus::unknown;
  std::vector<Bytes> offsets;  // the best layout known, that of `start` included; may be empty
  Bytes peak = 0;              // of it
  Bytes bound = 0;             // proven, exact in spite of the backend's tolerances
  std::int64_t nodes = 0;
  std::string detail;
};

// The least peak, from what is known at the start (solvers/layout/search.h). A point of the backend
// is decoded by order and comes out exact; its bound counts only as far as the tolerances of all
// rows together leave it. Requires a built backend, a stackable table, no clashing pins and at most
// options.pairs pairs; otherwise `unknown`, with the reason in `detail`.
LayoutMipResult solve_layout_mip(const LayoutTable& table, const LayoutMipSolve& options,
                                 const LayoutStart& start, Budget& budget);

}  // namespace stowage
