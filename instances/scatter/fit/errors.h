// The errors of predictions for rows that the fit did not use.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "instances/scatter/fit/cost_fit.h"
#include "instances/scatter/fit/sample.h"

namespace stowage {

// Returns the part, of five, with which each row is held out. Every part has rows of every degree.
inline constexpr std::size_t kParts = 5;
std::vector<std::size_t> parts_of(std::span<const TimedRow> rows);

// Summarises the errors |predicted / measured - 1|; all 0 without errors.
ErrorSummary summary_of(std::vector<double> errors);

// Return the errors of `some` of the rows, by their index: by degree, and by the longest sequence,
// in classes that end at powers of 4. `errors` has an entry for each of all rows.
std::vector<ErrorOfDegree> errors_by_degree(std::span<const TimedRow> rows,
                                            std::span<const std::size_t> some,
                                            std::span<const double> errors);
std::vector<ErrorOfLength> errors_by_length(std::span<const TimedRow> rows,
                                            std::span<const std::size_t> some,
                                            std::span<const double> errors);

}  // namespace stowage
