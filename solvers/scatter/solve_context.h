// The part of a scatter solve that its bounds and patterns read: instance, table, parameters and
// incumbent. ScatterContext adds the state that stages hand on (stage_context.h). Not installed.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "instances/budget.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/table/planning_table.h"
#include "solvers/milp/solver.h"
#include "solvers/scatter/params.h"
#include "solvers/stage.h"

namespace stowage {

struct ScatterSolveContext : SolveContext<ScatterInstance> {
  const ScatterTable table;
  bool& gap_ended_it;
  const ScatterParams params;

  // Returns true if the solve stops before the next stage.
  bool done() {
    if (!incumbent.plan()) return false;
    gap_ended_it = incumbent.within(options.gap);
    return gap_ended_it || incumbent.proven() || budget.exhausted();
  }

  bool exact() const { return options.method == "exact"; }

  // Returns true if a limit of time or nodes ends the solve without a proof.
  bool limited() const {
    return has_time_limit() ||
           budget.limits().node_limit < std::numeric_limits<std::int64_t>::max();
  }

  bool has_time_limit() const { return std::isfinite(budget.limits().time_limit_s); }

  // Returns a budget of at most that share of the remaining time, and all nodes.
  Budget share(double of_the_time) const {
    return budget.part(of_the_time * budget.seconds_left(), budget.nodes_left());
  }

  MilpBackend backend() const { return backend_of(options); }
  std::optional<MilpBackend> any_backend() const {
    if (built_backends().empty()) return std::nullopt;
    return backend();
  }
};

}  // namespace stowage
