// Turns any model into an equivalent model without the edge cases that backends mishandle.
//
//   const TidyModel tidied = tidy(model);
//   if (tidied.verdict == TidyModel::Verdict::open) x = tidied.expand(solve(tidied.model));
//
// Every step keeps at least one optimal solution and the optimal value. Duplicate terms are summed,
// integer bounds are rounded inwards, and singleton rows become bounds. Fixed variables are
// substituted, empty rows are checked, and variables without a row are set to their better bound.
// Costs that cannot change the objective by a share of 1e-12 become 0, which keeps the optimal
// value up to that share. On some of these inputs, GLPK and CBC give a wrong result, abort, or
// return a meaningless status.
#pragma once

#include <string>
#include <vector>

#include "formulations/milp/model.h"

namespace stowage {

struct TidyModel {
  // open: `model` holds the remaining model. solved: expand({}) is optimal. invalid: a number is
  // NaN, or infinite or too large where that is not allowed, and `detail` names it.
  enum class Verdict { open, solved, infeasible, unbounded, invalid };

  Verdict verdict = Verdict::open;
  std::string detail;           // the reason, unless open or solved
  milp::Model model;            // without names; has a variable and a row if open
  std::vector<int> origin;      // index in the original model of each variable of `model`
  std::vector<double> settled;  // by original variable: its value if it is not in `model`

  std::vector<double> expand(const std::vector<double>& reduced) const;
  // Returns the kept entries of `values`, moved into the tightened bounds. They may violate rows.
  std::vector<double> reduce(const std::vector<double>& values) const;
};

// Finite numbers must be below this limit. Larger numbers are usually a misspelt infinity.
inline constexpr double kLargestNumber = 1e20;

// Returns the reason why tidy() calls a model invalid, in words, or "" if it does not.
std::string find_bad_number(const milp::Model& model);

TidyModel tidy(const milp::Model& model);

}  // namespace stowage
