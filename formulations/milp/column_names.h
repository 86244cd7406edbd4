// The names of a model's variables in exported files. The solutions of other solvers use these
// names.
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
  std::string offset;  // name of the column that is fixed at 1 and carries the objective's offset
};

// Returns names of letters, digits and underscores, all different. An unnamed variable is called x
// and its index.
ColumnNames column_names(const Model& model);

}  // namespace stowage::milp
