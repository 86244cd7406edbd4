// Bounds the step by the pattern LPs of formulations/assign/lp/pattern_lp.h, with a certificate.
//
//   const PatternBound found = pattern_bound(instance, table, objective, {}, budget);
//   if (found.certificate && check_certificate(instance, *found.certificate).violations.empty())
//   ...
#pragma once

#include <optional>
#include <vector>

#include "formulations/assign/lp/pattern_lp.h"
#include "instances/assign/certificate.h"
#include "instances/assign/instance.h"
#include "instances/assign/planning_table.h"
#include "instances/budget.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct PatternBoundOptions {
  std::optional<MilpBackend> backend;  // nullopt: the dense simplex
  int rounds = 12;   // limit on the LPs per strategy, besides a rough LP; 0: no LP
  int patience = 3;  // a strategy ends after this number of LPs that do not raise its bound
  PatternDetail detail = PatternDetail::usual;
  double near = 5e-5;  // relative gap at which a strategy ends
};

struct PatternBound {
  std::optional<AssignCertificate> certificate;  // nullopt if no bound was proven
  // bound of each strategy in ms; infinite if the strategy cannot be used
  std::vector<Ms> strategies;
};

// Returns the bound of the weakest strategy. A strategy gets no LP if closed bounds [AB1 to AB3]
// prove that it is no faster than `upper`, the objective of a known plan. The same input gives the
// same bound unless the budget ends.
PatternBound pattern_bound(const AssignInstance& instance, const AssignTable& table, Ms upper,
                           const PatternBoundOptions& options, Budget& budget);

}  // namespace stowage
