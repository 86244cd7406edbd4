// Runs of a graph, runs again included, as the mixed-integer programme of Checkmate (Jain et al.,
// arXiv 1910.02653, section 4): stage t is the first run of the t-th operator of an order, and runs
// again of earlier ones before it.
//
//   const OrderTable table(instance);
//   Checkmate milp = build_checkmate(table, order, {.time = true, .most = capacity});
//   const std::vector<int> steps = decode(milp, values);
//
// The order of first runs is given, and each operator runs at most once per stage, in that order:
// the optimum is that of such plans, not of all. There are about n^2 / 2 variables for runs and
// n m / 2 for what m tensors keep. Rows and their numbers, OK1 to OK8, are those of
// formulations/README.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/order/table.h"

namespace stowage {

struct CheckmateOptions {
  bool time = false;  // least time within `most`; otherwise the least peak up to it
  Bytes most = 0;     // a capacity, or a peak that is known [OK6]
  Bytes least = 0;    // a proven bound on the peak [OK6]
};

struct Checkmate {
  milp::Model model;
  Bytes unit = 1;          // of the model's bytes: divides all sizes and workspaces
  std::vector<int> order;  // of first runs
  // runs[t][k], k < t: the variable that the k-th operator runs again in stage t; kNone if it may
  // not.
  static constexpr int kNone = -1;
  std::vector<std::vector<int>> runs;
  int peak = kNone;    // variable, of the least peak
  bool empty = false;  // `least` is above `most`
};

// How many binary variables the model has at most.
std::int64_t checkmate_binaries(const OrderTable& table);

// Requires an order of all operators that keeps the precedences.
Checkmate build_checkmate(const OrderTable& table, std::span<const int> order,
                          const CheckmateOptions& options);

// The runs of a point, whose binaries need only be near 0 and 1.
std::vector<int> decode(const Checkmate& milp, const std::vector<double>& values);

}  // namespace stowage
