// Where a coefficient is, by the errors of the measurements that it comes from.
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

// Where the coefficient is with a confidence of 95 %, cut at 0. Of few rows it holds the truth less
// often, as one too many may count nothing: a line's of 6 rows 88 times in a hundred, of 12 rows 91
// times. Infinite where the coefficient is not determined.
Interval interval95(const Regression& found, std::size_t column);

// The 97.5 % quantile of Student's distribution, to 1 %: 12.7 of one degree of freedom, 1.96 of
// many. Infinite below one.
double student975(double freedom);

}  // namespace stowage
