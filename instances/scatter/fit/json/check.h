// Checks whether samples can be fitted.
#pragma once

#include <vector>

#include "instances/json/errors.h"
#include "instances/scatter/fit/sample.h"

namespace stowage {

// Adds the errors of one row, independent of the others, at `places(index, MEMBER)`.
void check_sample(const ScatterInstance& like, const SamplePlaces& places, std::size_t index,
                  TimedRow& row, ErrorList& errors);

// Returns the errors of the rows, those of fit_cost(). Fills in an exchange if the instance leaves
// only one.
std::vector<InputError> check_samples(const ScatterInstance& like, const SamplePlaces& places,
                                      std::vector<TimedRow>& rows);

}  // namespace stowage
