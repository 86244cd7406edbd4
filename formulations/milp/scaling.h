// Measures the spread of the numbers of a model, and scales them by powers of two to reduce it.
//
//   const Scaling scaling = find_scaling(model);
//   const Model scaled = apply(scaling, model);
//   if (judge(coefficient_ranges(scaled)) == RangeVerdict::refuse) return "cannot be trusted";
//   std::vector<double> x = unscale(scaling, values_of_scaled);
//
// Solvers work with absolute tolerances near 1e-7. If coefficients spread over ten decades, they
// return wrong results with status "optimal". Factors are powers of two, so that scaling and
// unscaling are exact. Integer variables are not scaled, because their steps must stay 1.
#pragma once

#include <string>
#include <vector>

#include "formulations/milp/model.h"

namespace stowage::milp {

// The target interval of scaling, and the spreads (max / min) above which models are warned about
// or refused.
inline constexpr double kSmallestCoefficient = 1e-3;
inline constexpr double kLargestCoefficient = 1e6;
inline constexpr double kWarnRatio = 1e6;
inline constexpr double kRefuseRatio = 1e9;
// Largest accepted ratio of an objective's constant to its smallest coefficient.
inline constexpr double kRefuseConstantRatio = 1e18;

// Smallest and largest magnitude of the non-zero finite numbers included; 0 and 0 if there were no
// such numbers.
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
  Range constant;   // constant of the objective
};

enum class RangeVerdict { good, warn, refuse };

RangeReport coefficient_ranges(const Model& model);

// Compares the larger spread of rows and objective, and the ratio of the constant to the objective,
// with the limits above. Bounds cause at most a warning: a large right-hand side costs digits, but
// it does not make a proof wrong.
RangeVerdict judge(const RangeReport& report);

// Returns text such as "coef 1..4e+03, obj 1..1, bounds 1..10".
std::string to_string(const RangeReport& report);

// Exponents of two. The scaled model has a'_ij = a_ij 2^(row_i + column_j), x'_j = x_j 2^-column_j
// and objective' = objective 2^objective. All exponents are zero if the model needs no scaling.
struct Scaling {
  std::vector<int> row;
  std::vector<int> column;
  int objective = 0;
};

// Returns factors by alternating geometric means of rows and continuous columns, the usual
// iteration for Curtis and Reid's goal. One more factor raises the smallest objective coefficient
// to 1e-3, but limits the constant to 2^40. Requires finite coefficients.
Scaling find_scaling(const Model& model);

Model apply(const Scaling& scaling, const Model& model);
std::vector<double> scale(const Scaling& scaling, std::vector<double> values);    // x to x'
std::vector<double> unscale(const Scaling& scaling, std::vector<double> values);  // x' to x

}  // namespace stowage::milp
