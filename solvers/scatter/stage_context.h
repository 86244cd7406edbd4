// The context that the stages of one scatter solve share: the solve (solve_context.h), and the
// plans, bounds and searches that one stage hands on to the next. Not installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "instances/budget.h"
#include "instances/scatter/instance.h"
#include "instances/units.h"
#include "solvers/family_solve.h"
#include "solvers/parameters.h"
#include "solvers/scatter/bounds/bound_schedule.h"
#include "solvers/scatter/patterns/partial_replanning.h"
#include "solvers/scatter/solve_context.h"

namespace stowage {

struct ScatterContext : ScatterSolveContext {
  // All arguments must outlive this.
  ScatterContext(const ScatterInstance& step, const SolveOptions& asked, Budget& whole,
                 Incumbent<ScatterInstance>& best, bool& gap_reached,
                 std::optional<Refutation>& refutation)
      : ScatterSolveContext{{step, asked, whole, best},
                            ScatterTable(step),
                            gap_reached,
                            with_values<ScatterParams>(asked.params)},
        refuted(refutation) {}
  ScatterContext(const ScatterContext&) = delete;
  ScatterContext& operator=(const ScatterContext&) = delete;

  // Solves another step; set by the solve, whose stages cannot call it.
  Outcome (*solve_other)(const ScatterInstance&, const SolveOptions&, Budget&,
                         const Progress&) = nullptr;
  std::optional<Refutation>& refuted;  // set by a stage that proves that no plan exists
  ScatterBoundSchedule bounding{*this};
  ScatterPartialReplanning replan{*this};
  std::optional<Ms> method_bound;               // of a baseline that fixes part of the plan by rule
  std::optional<std::size_t> improved_batches;  // micro-batches of the last round's working plan
  double multistart_s = 0;                      // seconds that the stage multistart took
  std::int64_t regroup_nodes = 0;  // node limit of each MILP of the next regrouping; 0: not yet run
};

}  // namespace stowage
