// What is asked of a solver of linear programmes, and what it answers.
#pragma once

#include <string>
#include <vector>

#include "instances/budget.h"

namespace stowage {

enum class LpPlace : signed char { basic, lower, upper, free };

// Where the variables and rows of a solved model stand. May be shorter than the next model: new
// variables are then at their lower bound and new rows basic.
struct LpBasis {
  std::vector<LpPlace> variables;
  std::vector<LpPlace> rows;
};

struct LpResult {
  bool optimal = false;
  StopReason limit = StopReason::none;
  double objective = 0;
  std::vector<double> values;  // one per variable
  std::vector<double> duals;   // one per row: what its right side is worth; >= 0 for lower sides
  LpBasis basis;
  std::string detail;  // why it is not optimal, in the backend's words
};

}  // namespace stowage
