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
  std::optional<MilpBackend> backend;  // nothing: the dense simplex
  int rounds = 12;                     // LPs per strategy at most, besides a rough one; 0: no LP
  PatternDetail detail = PatternDetail::usual;
  double near = 5e-5;  // relative; a gap that is not worth another LP
};

struct PatternBound {
  std::optional<AssignCertificate> certificate;  // nothing if nothing could be proven
  std::vector<Ms> strategies;  // what is proven of each; infinite for those that cannot be used
};

// Strategies that closed bounds [AB1 to AB3] show to be no faster than `upper`, the objective of a
// known plan, get no LP. The same input gives the same bound unless the budget ends.
PatternBound pattern_bound(const AssignInstance& instance, const AssignTable& table, Ms upper,
                           const PatternBoundOptions& options, Budget& budget);

}  // namespace stowage
