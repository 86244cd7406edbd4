// Bounds the step by the configuration LPs of formulations/assign/lp/configuration_lp.h, with a
// certificate.
//
//   const ConfigurationBound found = configuration_bound(instance, table, upper, known, {}, budget);
//   if (found.certificate && check_certificate(instance, *found.certificate).violations.empty())
//   ...
#pragma once

#include <optional>

#include "instances/assign/certificate.h"
#include "instances/assign/instance.h"
#include "instances/assign/planning_table.h"
#include "instances/budget.h"
#include "solvers/assign/bounds/known_proofs.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct ConfigurationBoundOptions {
  std::optional<MilpBackend> backend;  // nullopt: the dense simplex
  // limit on the LPs of all strategies and times; large LPs count several times
  int most_lps = 2000;
  double near = 2e-4;   // relative gap at which the search stops
  double apart = 2e-4;  // relative distance at which two times count as equal
  // The first time tested, as a share of `upper`. A share just below 1 proves plans optimal. The
  // share 1 - near tests only the wanted gap, which takes less time.
  double first = 1 - 5e-9;
};

struct ConfigurationBound {
  std::optional<AssignCertificate> certificate;  // nullopt if no higher bound was proven
  KnownProofs known;                             // the proofs, including those of raised bounds
};

// Tests times between the known bounds and `upper`, the objective of a known plan: first a time
// near `upper`, then midpoints. A time is refuted if every strategy refutes it. Returns the known
// proofs unchanged if the instance has more than kMaxConfigured sequences. The same input gives
// the same bound unless the budget ends.
ConfigurationBound configuration_bound(const AssignInstance& instance, const AssignTable& table,
                                       Ms upper, KnownProofs known,
                                       const ConfigurationBoundOptions& options, Budget& budget);

}  // namespace stowage
