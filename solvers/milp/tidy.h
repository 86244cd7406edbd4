// Turns any model into one that a backend can be given without tripping over its edge cases.
//
//   const TidyModel tidied = tidy(model);
//   if (tidied.verdict == TidyModel::Verdict::open) x = tidied.expand(solve(tidied.model));
//
// Every step keeps at least one optimal point and the optimal value: duplicate terms are summed,
// integer bounds rounded inwards, singleton rows folded into bounds, fixed variables substituted,
// empty rows checked, and variables that stand in no row moved to their better bound. Costs that
// cannot change the objective by a share of 1e-12 become 0: with them alone, the optimal value is
// kept up to that share. GLPK and CBC each give a wrong answer, abort or return a meaningless
// status on some of these inputs.
#pragma once

#include <string>
#include <vector>

#include "formulations/milp/model.h"

namespace stowage {

struct TidyModel {
  // open: `model` holds what is left. solved: expand({}) is optimal. invalid: a number is NaN, or
  // infinite or huge where it must not be; `detail` names it.
  enum class Verdict { open, solved, infeasible, unbounded, invalid };

  Verdict verdict = Verdict::open;
  std::string detail;           // says why unless open or solved
  milp::Model model;            // without names; has a variable and a row when open
  std::vector<int> origin;      // of each variable of `model`: its index in the original
  std::vector<double> settled;  // per original variable: its value when it is not in `model`

  std::vector<double> expand(const std::vector<double>& reduced) const;
  // The kept entries of `values`, moved inside the tightened bounds; may break rows.
  std::vector<double> reduce(const std::vector<double>& values) const;
};

// A finite number must stay below this; larger ones are usually a misspelt infinity.
inline constexpr double kLargestNumber = 1e20;

// What makes tidy() call a model invalid, in words; "" if nothing does.
std::string find_bad_number(const milp::Model& model);

TidyModel tidy(const milp::Model& model);

}  // namespace stowage
