// One scatter solve under way: what its stages share. Not installed.
#pragma once

#include <optional>

#include "instances/budget.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/table.h"
#include "solvers/incumbent.h"
#include "solvers/milp/solver.h"
#include "solvers/solve.h"

namespace stowage {

struct ScatterRun {
  const ScatterInstance& instance;
  const SolveOptions& options;
  Budget& budget;
  Incumbent<ScatterInstance>& incumbent;
  bool& gap_ended_it;
  const ScatterTable table;

  // Whether to stop before the next stage of work.
  bool done() {
    if (!incumbent.plan()) return false;
    gap_ended_it = incumbent.within(options.gap);
    return gap_ended_it || incumbent.proven() || budget.exhausted();
  }

  // At most that share of the time left, and all nodes.
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
