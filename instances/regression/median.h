// The median of numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stowage {

// Returns the middle value, or the mean of the two middle values of an even number of them; 0 for
// an empty list.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace stowage
