// Exact methods for scatter: the strengthened MILP of a whole step, and the MILP of one micro-batch
// at a time.
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

// Models with more variables are not built: they would need gigabytes and prove nothing in hours.
inline constexpr std::size_t kLargestScatterMilp = 200000;

// Returns the variables of the whole-step MILP that could still find a better plan than the
// incumbent's.
std::size_t step_milp_variables(const ScatterInstance& instance,
                                const Incumbent<ScatterInstance>& incumbent);

// Returns the variables of the whole-step MILP if no plan is known.
std::size_t most_step_variables(const ScatterInstance& instance);

// Solves the whole step as one MILP, started from the incumbent's plan if it has one. Submits every
// better plan and raises the bound to the proven one. Returns the reason why the run ended: `proof`
// without a plan means that no plan exists.
StoppedBy solve_step_milp(const ScatterInstance& instance, const ScatterExactOptions& options,
                          Incumbent<ScatterInstance>& incumbent, Budget& budget);

// Regroups each micro-batch of the incumbent by its own MILP, the longest first, with at most
// `milp_nodes` nodes each, and submits faster plans. Proves nothing about the step. The limit is in
// nodes, not seconds, so that the result is reproducible.
void regroup_by_milp(const ScatterInstance& instance, const ScatterExactOptions& options,
                     std::int64_t milp_nodes, Incumbent<ScatterInstance>& incumbent,
                     Budget& budget);

}  // namespace stowage
