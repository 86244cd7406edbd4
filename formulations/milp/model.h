// A mixed-integer linear programme: minimise c x + offset subject to rows and bounds.
//
//   milp::Model model;
//   const int x = model.add_variable({.name = "x", .upper = 4, .objective = -1, .integer = true});
//   model.add_row({.name = "C1", .upper = 7, .terms = {{x, 2}}});
//
// A Model contains the problem and depends on no solver. Names contain the number of the constraint
// in docs/theory, so that an exported model can be read beside it.
//
// Thread safety: plain data: several threads may read a Model, one may change it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances/numeric/numbers.h"

namespace stowage::milp {

using stowage::kInfinity;

struct Variable {
  std::string name;
  double lower = 0;
  double upper = kInfinity;
  double objective = 0;
  bool integer = false;
};

struct Term {
  int variable = 0;
  double coefficient = 0;
};

// Returns one term per variable, sorted by variable. Terms of the same variable are added. A sum
// that is zero up to rounding is left out.
std::vector<Term> summed_terms(std::vector<Term> terms);

// lower <= sum of terms <= upper. Several terms of one variable are added.
struct Row {
  std::string name;
  double lower = -kInfinity;
  double upper = kInfinity;
  std::vector<Term> terms;
};

class Model {
 public:
  int add_variable(Variable variable);  // returns its index
  int add_row(Row row);                 // returns its index; terms must name existing variables
  void add_term(int row, Term term);    // for models that grow by columns
  void set_offset(double offset) { offset_ = offset; }

  const std::vector<Variable>& variables() const { return variables_; }
  const std::vector<Row>& rows() const { return rows_; }
  double offset() const { return offset_; }

  // Returns c x + offset. `values` has one entry per variable.
  double objective(const std::vector<double>& values) const;

  // Returns the largest violation of a row, a bound or integrality by `values`. It is absolute for
  // bounds and relative to max(1, |bound|) for rows, in long double.
  double violation(const std::vector<double>& values) const;

 private:
  std::vector<Variable> variables_;
  std::vector<Row> rows_;
  double offset_ = 0;
};

}  // namespace stowage::milp
