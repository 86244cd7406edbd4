// Bounds the step by branch and bound on the longest sequences of replicas, with a certificate. The
// prices are those of formulations/assign/band_prices.h.
//
//   const BandBound found = band_bound(instance, table, upper, known, {}, budget);
//   if (found.certificate && check_certificate(instance, *found.certificate).violations.empty())
//   ...
#pragma once

#include <cstdint>
#include <optional>

#include "instances/assign/certificate.h"
#include "instances/assign/instance.h"
#include "instances/assign/planning_table.h"
#include "instances/budget.h"
#include "solvers/assign/bounds/known_proofs.h"

namespace stowage {

struct BandBoundOptions {
  std::int64_t operations = 4'000'000;  // limit on price operations; some twenty milliseconds
  int rounds = 20;  // rounds of price improvement per case; three times as many for the first case
  double near = 1e-4;  // relative gap at which the search stops
};

struct BandBound {
  std::optional<AssignCertificate> certificate;  // nullopt if no higher bound was proven
  KnownProofs known;                             // the proofs, including those of raised bounds
};

// Raises the bound of the weakest strategy repeatedly, up to `upper`, the objective of a known
// plan. The method gains on strategies with pipelines of few replicas. The same input gives the
// same bound unless the budget ends.
BandBound band_bound(const AssignInstance& instance, const AssignTable& table, Ms upper,
                     KnownProofs known, const BandBoundOptions& options, Budget& budget);

}  // namespace stowage
