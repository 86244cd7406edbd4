// Explains an instance or a plan: conflicts and remedies, or what binds and what a change would
// buy. The `stowage explain` command is this and its printing.
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
  SolveOptions solve;           // of the instance and of each changed instance; `start` is ignored
  double seconds = 2;           // for each of these solves
  std::int64_t nodes = 200000;  // likewise
};

// Told before each piece of work: "solving with one more node".
using ExplainProgress = std::function<void(const std::string& what)>;

// Explains `plan`, or the plan that solving finds. Requires an instance as the reader returns it
// and, if given, a plan that verifies. When the budget ends, what is known by then is returned:
// causes may be reducible (Conflict::irreducible says so) and remedies missing.
Explanation explain(const Instance& instance, const std::optional<Plan>& plan,
                    const ExplainOptions& options, Budget& budget,
                    const ExplainProgress& progress = {});

}  // namespace stowage
