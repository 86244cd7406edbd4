// Splits coefficients that rows cannot separate: rows of sequences of one length determine the sum
// of the quadratic and the linear time, but not each of them.
#pragma once

#include <string>
#include <vector>

#include "instances/regression/robust.h"
#include "instances/scatter/fit/sample.h"
#include "instances/scatter/fit/terms.h"
#include "instances/scatter/instance.h"

namespace stowage {

// Rescales the undetermined coefficients among the quadratic, the linear and the fixed one. Their
// ratios become those of `like` or, if `like` has none, of the preset llama-7b on A100s of 80 GB.
// Predictions stay the same; if they would not, nothing changes. Returns the keys of the
// undetermined coefficients.
std::vector<std::string> split_undetermined(const Terms& terms, const std::vector<TimedRow>& rows,
                                            const ScatterCost& like, Regression& found);

}  // namespace stowage
