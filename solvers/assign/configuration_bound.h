// The configuration LPs of formulations/assign/configuration_lp.h turned into a bound on the step,
// with its certificate.
//
//   const ConfigurationBound found = configuration_bound(instance, table, upper, known, {}, budget);
//   if (found.certificate && check_certificate(instance, *found.certificate).violations.empty())
//   ...
#pragma once

#include <optional>

#include "instances/assign/certificate.h"
#include "instances/assign/instance.h"
#include "instances/assign/table.h"
#include "instances/budget.h"
#include "solvers/assign/known_proofs.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct ConfigurationBoundOptions {
  std::optional<MilpBackend> backend;  // nothing: the dense simplex
  int most_lps = 2000;  // of all strategies and times together; large ones count more
  double near = 2e-4;   // relative; a gap that is not worth another LP
  double apart = 2e-4;  // relative; times nearer to each other are not told apart
  // Times `upper`: the first question. Just below 1 it proves plans optimal; 1 - near asks no more
  // than is wanted, which is sooner answered.
  double first = 1 - 5e-9;
};

struct ConfigurationBound {
  std::optional<AssignCertificate> certificate;  // nothing if nothing more could be proven
  KnownProofs known;                             // raised where there is more
};

// Asks of one time after the other, between what is known and `upper`, the objective of a known
// plan, whether every strategy is refuted: first near it, then halfway. Nothing new for steps
// of more than kMostConfigured sequences. The same input gives the same bound unless the budget
// ends.
ConfigurationBound configuration_bound(const AssignInstance& instance, const AssignTable& table,
                                       Ms upper, KnownProofs known,
                                       const ConfigurationBoundOptions& options, Budget& budget);

}  // namespace stowage
