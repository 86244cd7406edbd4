// Coefficients that are not negative, from measurements of which some may be wrong.
//
//   measured_i ~ sum over c of x_c rows(i, c),  x_c >= 0
//
// Errors are relative to the fitted value, so that a short measurement counts as much as a long
// one. The start has the least sum of absolute errors. Then each measurement is weighted by Tukey's
// bisquare: one whose error exceeds 4.685 times the noise has weight 0, and one with a usual error
// has nearly full weight. The noise is the median absolute residual, residuals are divided by
// sqrt(1 - leverage), and standard errors are those of Huber's M-estimates.
//
// Sources: Beaton and Tukey 1974 (bisquare); Holland and Welsch 1977 (iteratively reweighted least
// squares); Huber, Robust Statistics (1981), section 7.6 (covariance).
//
//   const Regression found = regress(design, measured_ms);
#pragma once

#include <functional>
#include <vector>

#include "instances/regression/design.h"

namespace stowage {

struct Regression {
  std::vector<double> coefficients;     // by column
  std::vector<bool> determined;         // false: the other columns make up this column
  std::vector<double> standard_errors;  // by column; infinite if not determined
  std::vector<double> fitted;           // by row
  std::vector<double> weights;          // by row, in [0, 1]; 0: the row had no influence
  double noise = 0;                     // standard deviation of relative errors, outliers left out
  double freedom = 0;                   // rows with influence, less coefficients above 0
};

// The model may be piecewise linear, such as a sum of the longer of two times. `design_at` returns
// the rows that hold at the given coefficients. The first call has an empty vector: a mean of the
// pieces is a good answer, since a coefficient that no row has stays 0. If the pieces change at
// every step, those with the least errors are kept.
using DesignAt = std::function<Design(const std::vector<double>& coefficients)>;

// Returns the fit. Requires as many measurements as rows, each above 0, and the same size of every
// design. A `start` from another fit saves the search for a start.
Regression regress(const DesignAt& design_at, const std::vector<double>& measured,
                   const std::vector<double>& start = {});
Regression regress(const Design& design, const std::vector<double>& measured);

}  // namespace stowage
