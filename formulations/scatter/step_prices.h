// From the prices of a solver, which are nearly right, to prices that are a proof.
//
//   CertificateLeaf leaf = lp.prices(duals);
//   const double bound = settle_prices(table, fewest, conditions, leaf);
//
// Whatever comes in, a proof comes out; how good it is depends on the prices.
#pragma once

#include <cstdint>
#include <span>

#include "formulations/scatter/step_lp.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/table.h"

namespace stowage {

// Raises the prices of degrees that pay less than the devices they use are worth in their interval,
// sets each value that is zero to the least price of the sequence, and shrinks everything until no
// interval is worth more than it lasts. Returns what the leaf proves, ms, a safety margin of 1e-9
// below what was computed. Prices must be finite and at least 0; `fewest` micro-batches at least
// must be certain.
double settle_prices(const ScatterTable& table, std::int64_t fewest,
                     std::span<const StepCondition> conditions, CertificateLeaf& leaf);

}  // namespace stowage
