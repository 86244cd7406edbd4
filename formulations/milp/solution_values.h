// Converts a solution file to the values of a model's variables.
//
//   Result<std::vector<double>> values = values_of(model, *read_solution(text, "model.sol"));
#pragma once

#include <vector>

#include "formulations/milp/model.h"
#include "formulations/milp/read_solution.h"
#include "instances/result.h"

namespace stowage::milp {

// Error codes, listed with the command's codes in docs/reference/commands.md.
inline constexpr char kSolutionColumn[] = "E424";
inline constexpr char kSolutionValue[] = "E425";

// Returns the value of every variable, 0 if the file omits it. Integer variables get exact
// integers. Numbers of columns are those of the LP file, or of the MPS file if the values break a
// rule of the model otherwise. Continuous values have the file's precision, and rows with
// continuous variables are not checked. Errors: E424 a column that is unknown or occurs twice, E425
// an integer variable without an integral value or outside its bounds, or a violated row of integer
// variables.
Result<std::vector<double>> values_of(const Model& model, const SolutionFile& file);

}  // namespace stowage::milp
