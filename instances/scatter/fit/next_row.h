// Which row to measure next.
#pragma once

#include <optional>
#include <span>

#include "instances/regression/robust.h"
#include "instances/scatter/fit/cost_fit.h"
#include "instances/scatter/fit/sample.h"
#include "instances/scatter/fit/terms.h"

namespace stowage {

// Candidates have 1, 8 or 64 sequences of equal length, none shorter than any that was measured, as
// many tokens on a device as the largest or the smallest row or their geometric mean, and any form
// that groups may have. Of all rows those count that `found` counts.
std::optional<NextRow> next_row(std::span<const TimedRow> rows, const ScatterInstance& like,
                                const Terms& terms, const Regression& found);

}  // namespace stowage
