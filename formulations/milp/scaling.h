// How far apart the numbers of a model lie, and power-of-two factors that bring them together.
//
//   const Scaling scaling = find_scaling(model);
//   const Model scaled = apply(scaling, model);
//   if (judge(coefficient_ranges(scaled)) == RangeVerdict::refuse) return "cannot be trusted";
//   std::vector<double> x = unscale(scaling, values_of_scaled);
//
// Solvers work with absolute tolerances near 1e-7, so they answer wrongly, and say "optimal", when
// coefficients spread over ten decades. Factors are powers of two: scaling and unscaling are exact.
// Integer variables are never scaled, or their steps would no longer be 1.
#pragma once

#include <string>
#include <vector>

#include "formulations/milp/model.h"

namespace stowage::milp {

// The interval that scaling aims at, and the spreads (max / min) at which trust ends.
inline constexpr double kSmallestCoefficient = 1e-3;
inline constexpr double kLargestCoefficient = 1e6;
inline constexpr double kWarnRatio = 1e6;
inline constexpr double kRefuseRatio = 1e9;
// The constant of an objective may be so many times its smallest coefficient.
inline constexpr double kRefuseConstantRatio = 1e18;

// Smallest and largest magnitude of the non-zero finite numbers of a kind; 0, 0 when there are
// none.
struct Range {
  double min = 0;
  double max = 0;

  bool empty() const { return max == 0; }
  double ratio() const { return empty() ? 1 : max / min; }
  void include(double number);  // ignores zero and infinity
};

struct RangeReport {
  Range rows;       // coefficients of rows
  Range objective;  // coefficients of the objective
  Range bounds;     // bounds of variables and of rows
  Range constant;   // of the objective
};

enum class RangeVerdict { good, warn, refuse };

RangeReport coefficient_ranges(const Model& model);

// The worse of the two coefficient spreads, rows and objective, and the constant's distance from
// the objective, against the ratios above. Bounds only ever warn: a large right-hand side costs
// digits but does not mislead a proof by itself.
RangeVerdict judge(const RangeReport& report);

// "coef 1..4e+03, obj 1..1, bounds 1..10"
std::string to_string(const RangeReport& report);

// Exponents of two. The scaled model has a'_ij = a_ij 2^(row_i + column_j), x'_j = x_j 2^-column_j
// and objective' = objective 2^objective. All zero when the model is fine as it is.
struct Scaling {
  std::vector<int> row;
  std::vector<int> column;
  int objective = 0;
};

// Alternating geometric means of rows and continuous columns (Curtis and Reid's aim, the usual
// cheap iteration), then one factor for the objective that lifts its smallest step to 1e-3, but its
// constant to at most 2^40. Requires finite coefficients.
Scaling find_scaling(const Model& model);

Model apply(const Scaling& scaling, const Model& model);
std::vector<double> scale(const Scaling& scaling, std::vector<double> values);    // x to x'
std::vector<double> unscale(const Scaling& scaling, std::vector<double> values);  // x' to x

}  // namespace stowage::milp
