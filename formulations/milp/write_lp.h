// The CPLEX LP format, the readable one, as understood by GLPK, CBC and most other solvers.
//
//   std::ofstream file("model.lp");
//   write_lp(model, file, {"T_b: the time of micro-batch b"});
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "formulations/milp/model.h"

namespace stowage::milp {

// Numbers carry every digit. Names are made valid and unique (see export_text.h). The format has no
// ranges and no constant in the objective that every reader accepts: a row with two different sides
// becomes two rows, the offset a variable `objective_offset` fixed at 1. Rows without bounds are
// left out. `comments` stand in front, one a line. Requires finite coefficients.
void write_lp(const Model& model, std::ostream& out, const std::vector<std::string>& comments = {});

}  // namespace stowage::milp
