// The class LP of one micro-batch: decides if T milliseconds may suffice for given sequences.
//
// Groups of one degree are merged into one, so the LP names no single group and has no symmetry.
// n_d groups of degree d offer n_d (T - overhead_d) milliseconds and n_d d C tokens. If the
// relaxation is infeasible, no grouping exists. The least feasible T is a lower bound on the
// makespan, and its n_d is a mix to round from.
#pragma once

#include <span>
#include <vector>

#include "formulations/milp/model.h"
#include "formulations/scatter/milp.h"

namespace stowage {

struct ScatterClassLp {
  milp::Model model;
  std::vector<int> groups;  // n_d: variable of each degree
  // False if some class fits no degree within T, so that T is refuted without a solve.
  bool possible = true;
};

// Returns the LP that minimises the devices in use, sum d n_d, subject to L1 (cover every
// sequence), L2 (time) and L3 (memory) at makespan `limit` ms. T is refuted if the optimum, or a
// lower bound on it, exceeds N. `integral` requires whole groups, which gives the stronger class
// MIP.
ScatterClassLp build_scatter_class_lp(const ScatterInstance& instance,
                                      std::span<const LengthClass> classes, Ms limit,
                                      bool integral);

}  // namespace stowage
