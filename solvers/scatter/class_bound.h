// The class LP of formulations/scatter/class_lp.h turned into a bound on the step.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "formulations/bound.h"
#include "formulations/scatter/milp.h"
#include "instances/budget.h"
#include "instances/scatter/instance.h"
#include "solvers/milp/solver.h"

namespace stowage {

// A makespan, in ms, below which the class LP (or the class MIP, if `integral`) has no solution:
// no grouping of `classes` in one micro-batch is faster. Bisection between `lower`, known to be a
// bound, and `upper` until they differ by 1e-7 relative or the budget ends. The returned value is
// the last refuted one, or `lower` if none was. `failure` gets the words of a backend that failed.
Ms class_bound(const ScatterInstance& instance, std::span<const LengthClass> classes,
               MilpBackend backend, bool integral, Ms lower, Ms upper, Budget& budget,
               std::string& failure);

struct StepClassBound {
  std::optional<NamedBound> bound;
  std::string failure;  // what a backend said that cannot be; empty if nothing
};

// The bound on a whole step that follows [B4]: either it is one micro-batch, and class_bound holds,
// or it is two at least, and pays two overheads. Nothing where that is no better than `known`,
// or the step is so large that its LPs would take minutes. A backend's failure refutes nothing, nor
// does one that would refute `one_batch` as well, the makespan of a verified plan that is a single
// micro-batch (infinity if none is known). `objective` is of the best plan.
StepClassBound step_class_bound(const ScatterInstance& instance, MilpBackend backend, bool integral,
                                Ms known, Ms objective, Ms one_batch, Budget& budget);

}  // namespace stowage
