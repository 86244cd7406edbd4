// Exact methods for scatter: the strengthened MILP of a whole step, and of one micro-batch at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "instances/budget.h"
#include "instances/scatter/instance.h"
#include "solvers/incumbent.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct ScatterExactOptions {
  MilpBackend backend = MilpBackend::cbc;
  double gap = 0;
  std::uint64_t seed = 0;
};

// Models with more variables are not built: they would take gigabytes and prove nothing in hours.
inline constexpr std::size_t kLargestScatterMilp = 200000;

// Variables of the whole-step MILP that could still find a better plan than the incumbent's.
std::size_t step_milp_variables(const ScatterInstance& instance,
                                const Incumbent<ScatterInstance>& incumbent);

// Variables of the whole-step MILP where no plan is known.
std::size_t most_step_variables(const ScatterInstance& instance);

// Solves the whole step as one MILP, started from the incumbent's plan if it has one. Offers every
// better plan and raises the bound to what is proven. Returns what ended the run; `proof` without a
// plan says that there is none.
StoppedBy solve_step_milp(const ScatterInstance& instance, const ScatterExactOptions& options,
                          Incumbent<ScatterInstance>& incumbent, Budget& budget);

// Regroups each micro-batch of the incumbent by its own MILP, the longest first, with at most
// `milp_nodes` nodes each, and offers what gets faster. Proves nothing about the step. Nodes, not
// seconds, so that a node limit makes the result reproducible.
void regroup_by_milp(const ScatterInstance& instance, const ScatterExactOptions& options,
                     std::int64_t milp_nodes, Incumbent<ScatterInstance>& incumbent,
                     Budget& budget);

}  // namespace stowage
