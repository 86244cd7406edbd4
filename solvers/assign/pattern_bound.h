// The pattern LPs of formulations/assign/pattern_lp.h turned into a bound on the step, with its
// certificate.
//
//   const PatternBound found = pattern_bound(instance, table, objective, {}, budget);
//   if (found.certificate && check_certificate(instance, *found.certificate).violations.empty())
//   ...
#pragma once

#include <optional>
#include <vector>

#include "formulations/assign/pattern_lp.h"
#include "instances/assign/certificate.h"
#include "instances/assign/instance.h"
#include "instances/assign/table.h"
#include "instances/budget.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct PatternBoundOptions {
  std::optional<MilpBackend> backend;  // nullopt: the dense simplex
  int rounds = 12;                     // LPs per strategy at most, besides a rough LP; 0: no LP
  int patience = 3;  // LPs in a row, none of which raises the bound, that end a strategy
  PatternDetail detail = PatternDetail::usual;
  double near = 5e-5;  // relative gap that is not worth another LP
};

struct PatternBound {
  std::optional<AssignCertificate> certificate;  // nullopt if no bound was proven
  std::vector<Ms> strategies;  // the bound of each strategy; infinite if it cannot be used
};

// Returns the bound of the weakest strategy. A strategy gets no LP if closed bounds [AB1 to AB3]
// prove that it is no faster than `upper`, the objective of a known plan. The same input gives the
// same bound unless the budget ends.
PatternBound pattern_bound(const AssignInstance& instance, const AssignTable& table, Ms upper,
                           const PatternBoundOptions& options, Budget& budget);

}  // namespace stowage
