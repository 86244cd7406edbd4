// Splits what rows cannot tell apart: rows of sequences of one length determine the sum of the
// quadratic and the linear time, and not each of them.
#pragma once

#include <string>
#include <vector>

#include "instances/regression/robust.h"
#include "instances/scatter/fit/sample.h"
#include "instances/scatter/fit/terms.h"
#include "instances/scatter/instance.h"

namespace stowage {

// Gives the coefficients of `found` that are not determined, among the quadratic, the linear and
// the fixed one, the ratios that they have in `like`, or in the preset llama-7b on A100s of 80 GB
// where `like` has none. Rows are predicted as before: where they would not be, nothing changes.
// Returns the keys of all of them that are not determined.
std::vector<std::string> split_undetermined(const Terms& terms, const std::vector<TimedRow>& rows,
                                            const ScatterCost& like, Regression& found);

}  // namespace stowage
