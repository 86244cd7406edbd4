#include "instances/regression/interval.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "instances/numeric/numbers.h"

namespace stowage {

double student975(double freedom) {
  if (!(freedom >= 1)) return kInfinity;
  if (freedom < 2) return std::tan(0.475 * std::numbers::pi);
  if (freedom < 3) return 0.95 * std::sqrt(2 / (1 - 0.95 * 0.95));
  // Abramowitz and Stegun 26.7.5, from the quantile of the normal distribution.
  const double z = 1.959964;
  const double z2 = z * z;
  const double g1 = z * (z2 + 1) / 4;
  const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
  return z + (g1 + (g2 + (g3 + g4 / freedom) / freedom) / freedom) / freedom;
}

Interval interval95(const Regression& found, std::size_t column) {
  const double value = found.coefficients[column];
  const double half = student975(found.freedom) * found.standard_errors[column];
  if (!std::isfinite(half)) return {0, kInfinity};
  return {std::max(0.0, value - half), value + half};
}

}  // namespace stowage
