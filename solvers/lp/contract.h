// The input and the result of a solver of linear programmes.
#pragma once

#include <string>
#include <vector>

#include "instances/budget.h"

namespace stowage {

enum class LpPlace : signed char { basic, lower, upper, free };

// The places of the variables and rows of a solved model. May be shorter than the next model: then
// new variables are at their lower bound and new rows are basic.
struct LpBasis {
  std::vector<LpPlace> variables;
  std::vector<LpPlace> rows;
};

struct LpResult {
  bool optimal = false;
  StopReason limit = StopReason::none;
  double objective = 0;
  std::vector<double> values;  // one per variable
  std::vector<double> duals;  // one per row: the price of its right-hand side; >= 0 for lower sides
  LpBasis basis;
  std::string detail;  // reason if not optimal, as the backend reports it
};

}  // namespace stowage
