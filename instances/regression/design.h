// The design matrix of a linear model: a row for each measurement, a column for each coefficient.
#pragma once

#include <cstddef>
#include <vector>

namespace stowage {

struct Design {
  std::size_t columns = 0;
  std::vector<double> values;  // row by row

  std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }

  // Returns the value that the coefficients give for a row.
  double times(std::size_t row, const std::vector<double>& coefficients) const {
    double sum = 0;
    for (std::size_t c = 0; c < columns; ++c) sum += at(row, c) * coefficients[c];
    return sum;
  }
};

}  // namespace stowage
