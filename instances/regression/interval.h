// The confidence interval of a coefficient, from the errors of its measurements.
//
//   const Interval likely = interval95(found, 0);
#pragma once

#include <cstddef>

#include "instances/regression/robust.h"

namespace stowage {

struct Interval {
  double low = 0;
  double high = 0;
};

// Returns the interval that holds the coefficient with a confidence of 95 %, cut at 0. With few
// rows it holds the true value less often, because the fit may give a correct measurement no
// weight: a line of 6 rows 88 times in a hundred, of 12 rows 91 times. Infinite if the coefficient
// is not determined.
Interval interval95(const Regression& found, std::size_t column);

// Returns the 97.5 % quantile of Student's distribution, to 1 %: 12.7 for one degree of freedom,
// 1.96 for many. Infinite below one.
double student975(double freedom);

}  // namespace stowage
