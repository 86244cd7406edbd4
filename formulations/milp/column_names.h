// The names that a model's variables have in the files it is written to, and by which the solutions
// that other solvers write are read back.
//
//   const ColumnNames names = column_names(model);
//   names.variables[j];  // of variable j
#pragma once

#include <string>
#include <vector>

#include "formulations/milp/model.h"

namespace stowage::milp {

struct ColumnNames {
  std::vector<std::string> variables;
  std::string offset;  // of the column that is fixed at 1 and carries the objective's offset
};

// Letters, digits and underscores, each name once; a variable without a name is called x and its
// index.
ColumnNames column_names(const Model& model);

}  // namespace stowage::milp
