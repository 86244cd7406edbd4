// Least squares without negative coefficients.
//
// Source: Lawson and Hanson, Solving Least Squares Problems (1974), chapter 23. Columns enter the
// set of positive columns while that lowers the sum of squares, and leave it if they would turn
// negative.
#pragma once

#include <vector>

#include "instances/regression/design.h"

namespace stowage {

// Returns the x >= 0 that minimises |a x - b|^2. A column that the others already make up keeps 0,
// as does a column of zeros. Requires finite numbers, and as many entries of b as a has rows.
std::vector<double> non_negative_least_squares(const Design& a, const std::vector<double>& b);

}  // namespace stowage
