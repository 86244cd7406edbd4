// Chooses the row to measure next.
#pragma once

#include <optional>
#include <span>

#include "instances/regression/robust.h"
#include "instances/scatter/fit/cost_fit.h"
#include "instances/scatter/fit/sample.h"
#include "instances/scatter/fit/terms.h"

namespace stowage {

// Returns the best candidate. Candidates have 1, 8 or 64 sequences of equal length, none shorter
// than any measured sequence, and any form that groups may have. Their tokens on a device are those
// of the largest row, of the smallest, or the geometric mean. Rows count with their weights in
// `found`.
std::optional<NextRow> next_row(std::span<const TimedRow> rows, const ScatterInstance& like,
                                const Terms& terms, const Regression& found);

}  // namespace stowage
