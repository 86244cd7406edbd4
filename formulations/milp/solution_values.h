// The point of a model that a solution file says.
//
//   Result<std::vector<double>> values = values_of(model, *read_solution(text, "model.sol"));
#pragma once

#include <vector>

#include "formulations/milp/model.h"
#include "formulations/milp/read_solution.h"
#include "instances/result.h"

namespace stowage::milp {

// Error codes, with those of the command in docs/reference/commands.md.
inline constexpr char kSolutionColumn[] = "E424";
inline constexpr char kSolutionValue[] = "E425";

// The value of every variable, 0 for those that the file leaves out; integers exactly integral.
// Continuous values are as good as the file's digits, and rows that they stand in are not checked.
// Errors: E424 a column that is not the model's or stands there twice, E425 an integer variable
// without an integral value or outside its bounds, or a row of integer variables that is broken.
Result<std::vector<double>> values_of(const Model& model, const SolutionFile& file);

}  // namespace stowage::milp
