// A model as arrays for the solvers of COIN-OR and for HiGHS: the matrix by rows, and the largest
// double as infinity. Not installed: the files of these backends share it.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "formulations/milp/model.h"

namespace stowage {

struct ModelArrays {
  explicit ModelArrays(const milp::Model& model) {
    for (const milp::Variable& v : model.variables()) {
      lower.push_back(finite(v.lower));
      upper.push_back(finite(v.upper));
      cost.push_back(v.objective);
    }
    for (const milp::Row& row : model.rows()) {
      row_lower.push_back(finite(row.lower));
      row_upper.push_back(finite(row.upper));
      for (const milp::Term& term : row.terms) {
        index.push_back(term.variable);
        value.push_back(term.coefficient);
      }
      begin.push_back(static_cast<int>(index.size()));
    }
  }

  int rows() const { return static_cast<int>(row_lower.size()); }
  int columns() const { return static_cast<int>(lower.size()); }

  std::vector<double> lower, upper, cost;    // by variable
  std::vector<double> row_lower, row_upper;  // by row
  std::vector<int> begin{0};                 // by row and one more: index of its first term
  std::vector<int> index;                    // variable of each term
  std::vector<double> value;                 // coefficient of each term

 private:
  static double finite(double bound) {
    constexpr double kMost = std::numeric_limits<double>::max();
    return std::clamp(bound, -kMost, kMost);
  }
};

}  // namespace stowage
