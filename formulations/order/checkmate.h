// Runs of a graph with recomputation as Checkmate's mixed-integer programme (Jain et al., arXiv
// 1910.02653, section 4). Stage t is the first run of the t-th operator of an order, after further
// runs of earlier operators.
//
//   const OrderTable table(instance);
//   Checkmate milp = build_checkmate(table, order, {.time = true, .most = capacity});
//   const std::vector<int> steps = decode(milp, values);
//
// The order of first runs is given, and each operator runs at most once per stage, in that order.
// So the optimum is over such plans, not over all plans. There are about n^2 / 2 variables for
// runs, and n m / 2 for the kept ones of m tensors. Rows OK1 to OK8 are in docs/theory/order.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/order/planning_table.h"

namespace stowage {

struct CheckmateOptions {
  bool time = false;  // least time within `most`; otherwise the least peak up to it
  Bytes most = 0;     // a capacity, or a known peak [OK6]
  Bytes least = 0;    // a proven bound on the peak [OK6]
};

struct Checkmate {
  milp::Model model;
  Bytes unit = 1;          // bytes per unit of the model: divides all sizes and workspaces
  std::vector<int> order;  // order of first runs
  // runs[t][k], k < t: the variable that the k-th operator runs again in stage t, or kNone if it
  // must not.
  static constexpr int kNone = -1;
  std::vector<std::vector<int>> runs;
  int peak = kNone;    // variable of the least peak
  bool empty = false;  // `least` is above `most`
};

// Returns an upper bound on the number of binary variables.
std::int64_t checkmate_binaries(const OrderTable& table);

// Requires an order of all operators that keeps the precedences.
Checkmate build_checkmate(const OrderTable& table, std::span<const int> order,
                          const CheckmateOptions& options);

// Returns the runs of a solution. Its binaries only need to be near 0 and 1.
std::vector<int> decode(const Checkmate& milp, const std::vector<double>& values);

}  // namespace stowage
