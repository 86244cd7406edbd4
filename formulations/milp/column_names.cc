#include "formulations/milp/column_names.h"

#include "formulations/milp/export_text.h"

namespace stowage::milp {

ColumnNames column_names(const Model& model) {
  ExportNames names;
  ColumnNames columns;
  for (const Variable& variable : model.variables()) {
    columns.variables.push_back(names.make(
        variable.name.empty() ? "x" + std::to_string(columns.variables.size()) : variable.name));
  }
  columns.offset = names.make("objective_offset");
  return columns;
}

}  // namespace stowage::milp
