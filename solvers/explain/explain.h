// Explains an instance or a plan: conflicts and remedies of an infeasible instance, bottlenecks and
// the effects of changes of a plan. The `stowage explain` command prints the result.
//
//   Explanation why = explain(instance, plan, {.seconds = 2}, budget);
//   if (why.outcome.status == Status::infeasible) use(why.conflict, why.remedies);
//   else use(why.binding, why.what_if);
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "instances/budget.h"
#include "instances/families.h"
#include "solvers/explain/explanation.h"
#include "solvers/solve.h"

namespace stowage {

struct ExplainOptions {
  // Options of all solves, of the instance and of the changed instances; `start` is ignored.
  SolveOptions solve;
  double seconds = 2;           // limit of each solve
  std::int64_t nodes = 200000;  // limit of each solve
};

// Receives each activity before it starts, for example "solving with one more node".
using ExplainProgress = std::function<void(const std::string& what)>;

// Explains `plan`, or the plan that solving finds. Requires an instance as the reader returns it
// and, if given, a plan that verifies. If the budget ends, returns the results so far: causes may
// be reducible (see Conflict::irreducible) and remedies may be missing.
Explanation explain(const Instance& instance, const std::optional<Plan>& plan,
                    const ExplainOptions& options, Budget& budget,
                    const ExplainProgress& progress = {});

}  // namespace stowage
