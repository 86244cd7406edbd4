// Least squares without negative coefficients.
//
// Source: Lawson and Hanson, Solving Least Squares Problems (1974), chapter 23: columns enter the
// set of positive ones while that lowers the sum of squares, and leave it where they would turn
// negative.
#pragma once

#include <vector>

#include "instances/regression/design.h"

namespace stowage {

// The x >= 0 that minimises |a x - b|^2. A column that the others already make up keeps 0, as does
// one of zeros. Requires b to be as long as a has rows, and finite numbers.
std::vector<double> non_negative_least_squares(const Design& a, const std::vector<double>& b);

}  // namespace stowage
