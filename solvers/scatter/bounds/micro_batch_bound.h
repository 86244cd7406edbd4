// Turns the class LP of formulations/scatter/lp/class_lp.h into a bound on one micro-batch.
#pragma once

#include <span>
#include <string>

#include "formulations/scatter/milp.h"
#include "instances/budget.h"
#include "instances/scatter/instance.h"
#include "solvers/milp/solver.h"

namespace stowage {

// Returns a makespan in ms below which the class LP (or the class MIP, if `integral`) has no
// solution: no grouping of `classes` in one micro-batch is faster. Bisects between `lower`, which
// must be a bound, and `upper` until they differ by 1e-7 (relative) or the budget ends. Returns the
// last refuted makespan, or `lower` if none was refuted. `failure` receives the message of a
// backend that failed.
Ms class_bound(const ScatterInstance& instance, std::span<const LengthClass> classes,
               MilpBackend backend, bool integral, Ms lower, Ms upper, Budget& budget,
               std::string& failure);

}  // namespace stowage
