// The class LP of one micro-batch: can these sequences be done in T milliseconds at all?
//
// Groups of one degree are merged into one, so nothing names a group and nothing is symmetric: n_d
// groups of degree d offer n_d (T - overhead_d) milliseconds and n_d d C tokens. What even this
// relaxation cannot do, no grouping can; the least T that it can is a lower bound on the makespan,
// and its n_d is the mix to round from.
#pragma once

#include <span>
#include <vector>

#include "formulations/milp/model.h"
#include "formulations/scatter/milp.h"

namespace stowage {

struct ScatterClassLp {
  milp::Model model;
  std::vector<int> groups;  // n_d: variable of each degree
  // False: some class fits no degree within T, so T is refuted without solving anything.
  bool possible = true;
};

// Minimises the devices in use, sum d n_d, subject to L1 (every sequence somewhere), L2 (time) and
// L3 (memory) at makespan `limit` ms. T is refuted if the optimum, or any lower bound on it,
// exceeds N. `integral` asks for whole groups and gives the stronger class MIP.
ScatterClassLp build_scatter_class_lp(const ScatterInstance& instance,
                                      std::span<const LengthClass> classes, Ms limit,
                                      bool integral);

}  // namespace stowage
