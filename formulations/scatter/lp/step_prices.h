// Turns the approximate prices of a solver into prices that are a proof.
//
//   CertificateLeaf leaf = lp.prices(duals);
//   const double bound = settle_prices(table, fewest, conditions, leaf);
//
// The result is a proof for any input. Its strength depends on the prices.
#pragma once

#include <cstdint>
#include <span>

#include "formulations/scatter/lp/step_lp.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

// Raises the prices of degrees that pay less than the worth of their devices in the interval. Sets
// each zero value to the least price of its sequence. Then shrinks all prices until no interval is
// worth more than its makespan. Returns the bound in ms that the leaf proves, with a safety margin
// of 1e-9. Prices must be finite and at least 0. `fewest` must be a proven lower bound on the
// number of micro-batches.
double settle_prices(const ScatterTable& table, std::int64_t fewest,
                     std::span<const StepCondition> conditions, CertificateLeaf& leaf);

}  // namespace stowage
