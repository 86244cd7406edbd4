// Writes the free MPS format, which every solver reads.
//
//   std::ofstream file("model.mps");
//   write_mps(model, file);
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "formulations/milp/model.h"

namespace stowage::milp {

// Numbers are written with all digits. Names are made valid and unique (see export_text.h). The
// offset is a variable `objective_offset` fixed at 1, because readers disagree on the sign of a
// right-hand side of the objective row (CBC negates it, GLPK does not). A row with two different
// sides is written as a range if upper - lower restores both sides exactly, otherwise as two rows.
// Rows without bounds are omitted. `comments` come first, one per line. Requires finite
// coefficients.
void write_mps(const Model& model, std::ostream& out,
               const std::vector<std::string>& comments = {});

// Returns the names of the columns in the order of the file.
std::vector<std::string> columns_of_mps(const Model& model);

}  // namespace stowage::milp
