// Whether samples can be fitted.
#pragma once

#include <vector>

#include "instances/json/errors.h"
#include "instances/scatter/fit/sample.h"

namespace stowage {

// What is wrong with a row, whatever the others are, at `places(index, MEMBER)`.
void check_sample(const ScatterInstance& like, const SamplePlaces& places, std::size_t index,
                  TimedRow& row, ErrorList& errors);

// What is wrong with the rows, as fit_cost() says it. An exchange that the instance leaves no
// choice of is filled in.
std::vector<InputError> check_samples(const ScatterInstance& like, const SamplePlaces& places,
                                      std::vector<TimedRow>& rows);

}  // namespace stowage
