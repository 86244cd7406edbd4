// Writes the CPLEX LP format, a readable format that GLPK, CBC and most other solvers read.
//
//   std::ofstream file("model.lp");
//   write_lp(model, file, {"T_b: the time of micro-batch b"});
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "formulations/milp/model.h"

namespace stowage::milp {

// Numbers are written with all digits. Names are made valid and unique (see export_text.h). Ranges
// and an objective constant are not portable in this format. So a row with two different sides
// becomes two rows, and the offset becomes a variable `objective_offset` fixed at 1. Rows without
// bounds are omitted. `comments` come first, one per line. Requires finite coefficients.
void write_lp(const Model& model, std::ostream& out, const std::vector<std::string>& comments = {});

// Returns the names of the columns in the order in which readers of the file number them, which is
// the order in which they occur.
std::vector<std::string> columns_of_lp(const Model& model);

}  // namespace stowage::milp
