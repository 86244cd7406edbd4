// A model as the solvers of COIN-OR take it. Not installed: only files that are built with CBC
// include this.
#pragma once

#include <CoinFinite.hpp>
#include <CoinPackedMatrix.hpp>
#include <cmath>
#include <vector>

#include "formulations/model.h"

namespace stowage {

inline double to_coin(double bound) {
  return std::isfinite(bound) ? bound : std::copysign(COIN_DBL_MAX, bound);
}

// Bounds, costs and rows; integrality, sense and offset are left to the caller. SolverT is
// ClpSimplex or OsiClpSolverInterface.
template <class SolverT>
void load(const milp::Model& model, SolverT& solver) {
  std::vector<double> lower, upper, cost, row_lower, row_upper, value;
  std::vector<int> index;
  std::vector<CoinBigIndex> begin{0};
  for (const milp::Variable& v : model.variables()) {
    lower.push_back(to_coin(v.lower));
    upper.push_back(to_coin(v.upper));
    cost.push_back(v.objective);
  }
  for (const milp::Row& row : model.rows()) {
    row_lower.push_back(to_coin(row.lower));
    row_upper.push_back(to_coin(row.upper));
    for (const milp::Term& term : row.terms) {
      index.push_back(term.variable);
      value.push_back(term.coefficient);
    }
    begin.push_back(static_cast<CoinBigIndex>(index.size()));
  }
  const CoinPackedMatrix matrix(
      false, static_cast<int>(lower.size()), static_cast<int>(row_lower.size()),
      static_cast<CoinBigIndex>(index.size()), value.data(), index.data(), begin.data(), nullptr);
  solver.loadProblem(matrix, lower.data(), upper.data(), cost.data(), row_lower.data(),
                     row_upper.data());
}

}  // namespace stowage
